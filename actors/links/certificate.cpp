#include "actors/links/certificate.hpp"

#include <openssl/pem.h>
#include <openssl/rand.h>

#include <ctime>

#include "actors/links/openssl_pointers.hpp"
#include "core/text.hpp"

namespace troupe {
namespace {

constexpr const char* scheme = "troupe:";

error failed(const std::string& what) {
  return {errc::io, what + ": " + openssl_reason()};
}

std::string text_of(BIO* out) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(out, &data);
  return {data, static_cast<std::size_t>(size)};
}

result<std::string> pem_of(X509* certificate) {
  bio_pointer out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(out.get(), certificate) != 1) return failed("writing a certificate");
  return text_of(out.get());
}

result<std::string> pem_of(EVP_PKEY* key) {
  bio_pointer out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return failed("writing a key");
  return text_of(out.get());
}

bool extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// What authorities and nodes have in common: a serial number, days, a name, a key.
x509_pointer begin_certificate(EVP_PKEY* key, const std::string& name, int days) {
  x509_pointer c(X509_new());
  X509_set_version(c.get(), X509_VERSION_3);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(c.get()), serial >> 1);
  constexpr long day = 24 * 60 * 60;
  // A little before now: clocks of machines differ.
  X509_gmtime_adj(X509_getm_notBefore(c.get()), days < 0 ? day * (days - 1) : -60 * 60);
  X509_gmtime_adj(X509_getm_notAfter(c.get()), day * days);
  X509_set_pubkey(c.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(c.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return c;
}

result<key_pair> pair_of(X509* certificate, EVP_PKEY* key) {
  auto c = pem_of(certificate);
  if (!c) return c.failure();
  auto k = pem_of(key);
  if (!k) return k.failure();
  return key_pair{*std::move(c), *std::move(k)};
}

bool is_number_address(const std::string& host) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(address);
  ERR_clear_error();
  return address != nullptr;
}

std::int64_t seconds_of_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

}  // namespace

result<key_pair> make_authority(const std::string& cluster, int days) {
  key_pointer key(EVP_EC_gen("P-256"));
  if (!key) return failed("making a key");
  auto c = begin_certificate(key.get(), "Troupe cluster " + cluster, days);
  X509_set_issuer_name(c.get(), X509_get_subject_name(c.get()));
  if (!extend(c.get(), c.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !extend(c.get(), c.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !extend(c.get(), c.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(c.get(), key.get(), EVP_sha256()) == 0)
    return failed("making the authority's certificate");
  return pair_of(c.get(), key.get());
}

result<key_pair> make_certificate(const key_pair& authority, const certificate_identity& who,
                                  const std::vector<std::string>& hosts, int days) {
  const auto issuer = certificate_of_pem(authority.certificate);
  const auto issuer_key = key_of_pem(authority.key);
  if (!issuer || !issuer_key) return failed("reading the authority");
  key_pointer key(EVP_EC_gen("P-256"));
  if (!key) return failed("making a key");
  auto c = begin_certificate(key.get(), who.name, days);
  X509_set_issuer_name(c.get(), X509_get_subject_name(issuer.get()));
  auto names = "URI:" + std::string(scheme) + who.cluster + "/" + who.role + "/" + who.name;
  for (const auto& host : hosts) names += (is_number_address(host) ? ",IP:" : ",DNS:") + host;
  if (!extend(c.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !extend(c.get(), issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !extend(c.get(), issuer.get(), NID_ext_key_usage, "serverAuth,clientAuth") ||
      !extend(c.get(), issuer.get(), NID_authority_key_identifier, "keyid") ||
      !extend(c.get(), issuer.get(), NID_subject_alt_name, names) ||
      X509_sign(c.get(), issuer_key.get(), EVP_sha256()) == 0)
    return failed("making the certificate of " + who.name);
  return pair_of(c.get(), key.get());
}

result<certificate_identity> identity_of_uri(const std::string& uri) {
  const error none{errc::bad_config, "the certificate is none of a Troupe cluster"};
  if (uri.rfind(scheme, 0) != 0) return none;
  const auto rest = uri.substr(std::string(scheme).size());
  const auto first = rest.find('/');
  const auto second = first == std::string::npos ? first : rest.find('/', first + 1);
  if (second == std::string::npos || rest.find('/', second + 1) != std::string::npos) return none;
  return certificate_identity{rest.substr(0, first), rest.substr(first + 1, second - first - 1),
                              rest.substr(second + 1)};
}

result<certificate_facts> facts_of_certificate(const std::string& pem) {
  const auto c = certificate_of_pem(pem);
  if (!c) return error{errc::bad_config, "it is no certificate: " + openssl_reason()};
  certificate_facts facts;
  facts.valid_from = seconds_of_time(X509_get0_notBefore(c.get()));
  facts.valid_to = seconds_of_time(X509_get0_notAfter(c.get()));
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(c.get()), NID_commonName, name, sizeof name);
  facts.common_name = name;
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(c.get(), NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const auto* one = sk_GENERAL_NAME_value(names, i);
    if (one->type != GEN_URI) continue;
    const auto* text = one->d.uniformResourceIdentifier;
    const std::string uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                          static_cast<std::size_t>(ASN1_STRING_length(text)));
    if (auto who = identity_of_uri(uri)) facts.who = *std::move(who);
  }
  GENERAL_NAMES_free(names);
  return facts;
}

result<void> check_key(const std::string& certificate, const std::string& key) {
  const auto c = certificate_of_pem(certificate);
  const auto k = key_of_pem(key);
  if (!c) return error{errc::bad_config, "the certificate cannot be read: " + openssl_reason()};
  if (!k) return error{errc::bad_config, "the key cannot be read: " + openssl_reason()};
  if (X509_check_private_key(c.get(), k.get()) != 1) {
    ERR_clear_error();
    return error{errc::bad_config, "the key is not that of the certificate"};
  }
  return {};
}

result<void> check_signature(const std::string& certificate, const std::string& authority) {
  const auto c = certificate_of_pem(certificate);
  const auto a = certificate_of_pem(authority);
  if (!c) return error{errc::bad_config, "the certificate cannot be read: " + openssl_reason()};
  if (!a) return error{errc::bad_config, "the authority cannot be read: " + openssl_reason()};
  if (X509_verify(c.get(), X509_get0_pubkey(a.get())) != 1) {
    ERR_clear_error();
    return error{errc::bad_config, "the certificate was signed by another authority"};
  }
  return {};
}

}  // namespace troupe
