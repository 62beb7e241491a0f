import { Duplex } from 'node:stream'
import { connect } from 'node:tls'

/** The key of `CERTIFICATE`. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgi7QBrqtd0AbwFcnE
1Xi3dO8lOrzS8XtU9DxJk0bjt8+hRANCAATJ1hhcJEJJ1Emsc4J9xmJlitlkUfPp
96dLfQyfHdqGenZTmuxoSF9M5zSrWemON1O9dhcyIRb1YLjQfJ+LjUpr
-----END PRIVATE KEY-----`

/** Made for tests: for secure.test and 127.0.0.1, signed by itself. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBojCCAUegAwIBAgIUdzajvDztAo/+xlwKi9XZEHfNT1swCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLc2VjdXJlLnRlc3QwIBcNMjYxMTE1MTAxMTE5WhgPMjEyNjEw
MjIxMDExMTlaMBYxFDASBgNVBAMMC3NlY3VyZS50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEydYYXCRCSdRJrHOCfcZiZYrZZFHz6fenS30Mnx3ahnp2U5rs
aEhfTOc0q1npjjdTvXYXMiEW9WC40Hyfi41Ka6NxMG8wHQYDVR0OBBYEFI2l0iYI
Y4jA/5Qgp4k2qVT9Vh3DMB8GA1UdIwQYMBaAFI2l0iYIY4jA/5Qgp4k2qVT9Vh3D
MA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4ILc2VjdXJlLnRlc3SHBH8AAAEw
CgYIKoZIzj0EAwIDSQAwRgIhAL1SqrJYlFZqnNl09Zxzw/iEsaYCOyVLS+Dp1l0/
QKQLAiEAlP9Nd1PGOQ+pXg8BHjngEm8xCnTiPaaYA+GjFtrYc5g=
-----END CERTIFICATE-----`

/** The ClientHello that Node sends. */
export function helloFor(servername: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    // Nobody ever answers.
    connect({ socket: new Duplex({ read() {}, write: resolve }), servername }).on('error', () => {})
  })
}
