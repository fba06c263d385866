#pragma once
// OpenSSL's objects, freed by who owns them, and its errors as text.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace troupe {

template <auto Free>
struct openssl_free {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using bio_pointer = std::unique_ptr<BIO, openssl_free<BIO_free_all>>;
using key_pointer = std::unique_ptr<EVP_PKEY, openssl_free<EVP_PKEY_free>>;
using x509_pointer = std::unique_ptr<X509, openssl_free<X509_free>>;
using ssl_pointer = std::unique_ptr<SSL, openssl_free<SSL_free>>;

// The first reason in the queue, which is emptied.
inline std::string openssl_reason(const std::string& otherwise = "unknown reason") {
  const auto code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? otherwise : reason;
}

inline x509_pointer certificate_of_pem(const std::string& pem) {
  bio_pointer in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return x509_pointer(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
}

// Never asks for a password.
inline key_pointer key_of_pem(const std::string& pem) {
  bio_pointer in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const auto no_password = [](char*, int, int, void*) { return 0; };
  return key_pointer(PEM_read_bio_PrivateKey(in.get(), nullptr, no_password, nullptr));
}

}  // namespace troupe
