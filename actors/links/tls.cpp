#include "actors/links/tls.hpp"

#include <openssl/pem.h>

#include <algorithm>
#include <filesystem>

#include "actors/links/openssl_pointers.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t largest_pem = 1 << 20;
constexpr std::size_t record = std::size_t{1} << 14;  // RFC 8446 5.1

// A key that others may read is no secret.
result<void> check_mode(const std::string& path) {
  std::error_code failed;
  const auto mode = std::filesystem::status(path, failed).permissions();
  if (failed) return error{errc::io, path + ": " + failed.message()};
  using std::filesystem::perms;
  if ((mode & (perms::group_all | perms::others_all)) != perms::none)
    return error{errc::bad_config,
                 path + ": others may read this key; run 'chmod 600 " + path + "'"};
  return {};
}

// OpenSSL's reason, in the words of who has to mend it.
std::string in_our_words(const std::string& reason) {
  if (reason == "wrong version number" || reason == "http request" ||
      reason == "packet length too long" || reason == "record layer failure" ||
      reason == "unexpected message")
    return "the peer does not speak TLS 1.3 (" + reason + ")";
  if (reason == "peer did not return a certificate") return "the peer has shown no certificate";
  if (reason.find("certificate required") != std::string::npos)
    return "the peer asks for a certificate, and this node has shown none";
  if (reason.find("alert unknown ca") != std::string::npos)
    return "the peer does not know the authority of this node's certificate";
  if (reason.find("alert certificate expired") != std::string::npos)
    return "this node's certificate has expired, says the peer";
  return reason;
}

std::string verdict_in_our_words(long verdict) {
  const std::string reason = X509_verify_cert_error_string(verdict);
  switch (verdict) {
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "it was not signed by this cluster's authority (" + reason + ")";
    default:
      return reason;
  }
}

}  // namespace

struct tls_context::openssl {
  std::unique_ptr<SSL_CTX, openssl_free<SSL_CTX_free>> context{SSL_CTX_new(TLS_method())};
};

struct tls_channel::openssl {
  ssl_pointer ssl;
  BIO* in = nullptr;   // owned by ssl
  BIO* out = nullptr;  // owned by ssl
};

tls_context::tls_context(std::unique_ptr<openssl> inner) : inner_(std::move(inner)) {}
tls_context::~tls_context() = default;

result<std::shared_ptr<const tls_context>> tls_context::open(file_system& files,
                                                             const tls_files& paths) {
  for (const auto& [path, what] : {std::pair(paths.certificate, "certificate"),
                                   {paths.key, "key"},
                                   {paths.authority, "authority"}})
    if (path.empty())
      return error{errc::bad_config, std::string("no file is named for the TLS ") + what};
  const auto certificate = read_text(files, paths.certificate, largest_pem);
  if (!certificate) return certificate.failure();
  const auto key = read_text(files, paths.key, largest_pem);
  if (!key) return key.failure();
  const auto authority = read_text(files, paths.authority, largest_pem);
  if (!authority) return authority.failure();
  if (const auto secret = check_mode(paths.key); !secret) return secret.failure();
  const auto facts = facts_of_certificate(*certificate);
  if (!facts) return error{errc::bad_config, paths.certificate + ": " + facts.failure().text};
  if (facts->who.name.empty())
    return error{errc::bad_config, paths.certificate +
                                       ": it names no node of a Troupe cluster; make certificates "
                                       "with 'troupe certs'"};
  if (const auto fits = check_key(*certificate, *key); !fits)
    return error{errc::bad_config, paths.key + ": " + fits.failure().text};
  auto inner = std::make_unique<openssl>();
  auto* c = inner->context.get();
  const auto own = certificate_of_pem(*certificate);
  const auto own_key = key_of_pem(*key);
  const auto trusted = certificate_of_pem(*authority);
  if (!trusted) return error{errc::bad_config, paths.authority + ": it is no certificate"};
  SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_verify_depth(c, 1);
  if (SSL_CTX_use_certificate(c, own.get()) != 1 || SSL_CTX_use_PrivateKey(c, own_key.get()) != 1 ||
      X509_STORE_add_cert(SSL_CTX_get_cert_store(c), trusted.get()) != 1 ||
      SSL_CTX_add_client_CA(c, trusted.get()) != 1)
    return error{errc::bad_config, paths.certificate + ": " + openssl_reason()};
  std::shared_ptr<tls_context> made(new tls_context(std::move(inner)));
  made->identity_ = facts->who;
  return std::shared_ptr<const tls_context>(std::move(made));
}

tls_channel::tls_channel(std::shared_ptr<const tls_context> context, bool accepts)
    : context_(std::move(context)), inner_(std::make_unique<openssl>()) {
  inner_->ssl.reset(SSL_new(context_->inner_->context.get()));
  inner_->in = BIO_new(BIO_s_mem());
  inner_->out = BIO_new(BIO_s_mem());
  SSL_set_bio(inner_->ssl.get(), inner_->in, inner_->out);
  if (accepts)
    SSL_set_accept_state(inner_->ssl.get());
  else
    SSL_set_connect_state(inner_->ssl.get());
  if (!accepts) shake_hands();
}

tls_channel::~tls_channel() = default;

bool tls_channel::established() const {
  return shaken_;
}

void tls_channel::received(span<const std::byte> bytes) {
  if (!failure_.empty()) return;
  BIO_write(inner_->in, bytes.data(), static_cast<int>(bytes.size()));
  if (!shaken_) shake_hands();
}

void tls_channel::shake_hands() {
  ERR_clear_error();
  const auto outcome = SSL_do_handshake(inner_->ssl.get());
  if (outcome != 1) return check(outcome);
  shaken_ = true;
  const x509_pointer theirs(SSL_get1_peer_certificate(inner_->ssl.get()));
  bio_pointer text(BIO_new(BIO_s_mem()));
  if (!theirs || PEM_write_bio_X509(text.get(), theirs.get()) != 1) {
    failure_ = "the peer has shown no certificate";
    judged_ = true;
    return;
  }
  char* data = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &data);
  const auto facts = facts_of_certificate({data, static_cast<std::size_t>(size)});
  peer_ = facts ? facts->who : certificate_identity{};
}

void tls_channel::check(int outcome) {
  const auto kind = SSL_get_error(inner_->ssl.get(), outcome);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return;
  const auto verdict = SSL_get_verify_result(inner_->ssl.get());
  judged_ = kind == SSL_ERROR_SSL;
  if (kind == SSL_ERROR_ZERO_RETURN)
    failure_ = "the peer has closed the connection";
  else if (verdict != X509_V_OK)
    failure_ = "the peer's certificate: " + verdict_in_our_words(verdict);
  else
    failure_ = in_our_words(openssl_reason("the connection broke off"));
  ERR_clear_error();
}

std::size_t tls_channel::read(span<std::byte> into) {
  if (!shaken_ || !failure_.empty() || into.empty()) return 0;
  std::size_t got = 0;
  ERR_clear_error();
  while (got < into.size()) {
    const auto most = static_cast<int>(std::min<std::size_t>(into.size() - got, 1 << 30));
    const auto n = SSL_read(inner_->ssl.get(), into.data() + got, most);
    if (n <= 0) {
      check(n);
      break;
    }
    got += static_cast<std::size_t>(n);
  }
  return got;
}

void tls_channel::write(span<const std::byte> bytes) {
  if (plain_.size() + bytes.size() <= record) {
    plain_.insert(plain_.end(), bytes.begin(), bytes.end());
    return;
  }
  encrypt(plain_);
  plain_.clear();
  encrypt(bytes);
}

void tls_channel::encrypt(span<const std::byte> bytes) {
  ERR_clear_error();
  for (std::size_t at = 0; at < bytes.size() && failure_.empty();) {
    const auto piece = static_cast<int>(std::min(bytes.size() - at, record));
    const auto n = SSL_write(inner_->ssl.get(), bytes.data() + at, piece);
    if (n <= 0) return check(n);
    at += static_cast<std::size_t>(n);
  }
}

void tls_channel::take_bytes(outgoing_bytes& to) {
  if (!plain_.empty()) encrypt(plain_);
  plain_.clear();
  // Read, and not reset: that would clear all that the buffer has ever held.
  const auto size = BIO_ctrl_pending(inner_->out);
  if (size > 0) BIO_read(inner_->out, to.extend(size), static_cast<int>(size));
}

}  // namespace troupe
