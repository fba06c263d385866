#pragma once
// Certificates of a cluster: one authority, and one certificate for each node and for
// administrators, which holds its cluster, role and name as "troupe:CLUSTER/ROLE/NAME" (a URI among
// the subject's alternative names, RFC 5280 4.2.1.6). Keys are on the curve P-256, files are PEM.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace troupe {

struct certificate_identity {
  std::string cluster, role, name;  // role: scheduler, server, worker, admin
};

struct certificate_facts {
  certificate_identity who;
  std::string common_name;
  std::int64_t valid_from = 0, valid_to = 0;  // seconds since 1970
};

struct key_pair {
  std::string certificate, key;  // PEM
};

// `days` may be negative: a certificate that has expired, for tests.
result<key_pair> make_authority(const std::string& cluster, int days);
result<key_pair> make_certificate(const key_pair& authority, const certificate_identity& who,
                                  const std::vector<std::string>& hosts, int days);

result<certificate_facts> facts_of_certificate(const std::string& pem);
// That the key is the certificate's, and the certificate the authority's.
result<void> check_key(const std::string& certificate, const std::string& key);
result<void> check_signature(const std::string& certificate, const std::string& authority);

// "cluster/role/name" of the URI's text; an error if it is none of ours.
result<certificate_identity> identity_of_uri(const std::string& uri);

}  // namespace troupe
