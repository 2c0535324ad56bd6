//! Encrypted connections to PostgreSQL, by rustls. Decides nothing: how far a certificate is looked at is said in the address.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::{Address, Verify};

#[derive(Clone, Debug, thiserror::Error)]
pub enum BadRoots {
    #[error("could not read the root certificate {path}: {why}; sslrootcert must be a PEM file")]
    File { path: String, why: String },
    #[error("this system trusts no certificates; name a root certificate with sslrootcert=FILE")]
    None,
}

/// What opens encrypted connections to this address.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect, BadRoots> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match address.verify {
        Verify::Nothing => Arc::new(Lenient { provider: provider.clone(), chain: None }),
        Verify::Chain => Arc::new(Lenient { provider: provider.clone(), chain: Some(chain(address, &provider)?) }),
        Verify::Full => chain(address, &provider)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks the versions that rustls holds safe")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn chain(address: &Address, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, BadRoots> {
    let mut roots = RootCertStore::empty();
    match &address.root_certificate {
        Some(path) => {
            let bad = |why: String| BadRoots::File { path: path.display().to_string(), why };
            let certificates = CertificateDer::pem_file_iter(path).map_err(|error| bad(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| bad(error.to_string()))?;
                roots.add(certificate).map_err(|error| bad(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(bad("there is no certificate in it".into()));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(BadRoots::None);
            }
        }
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    verifier.map_err(|_| BadRoots::None)
}

/// Takes a certificate for any host, and without a chain from anybody. The handshake itself is checked all the same.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
