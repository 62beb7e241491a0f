// Certificates for servers that exist only on this machine: signed by themselves, for any names, made in JavaScript.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP, SocketAddress } from 'node:net'

const ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const ALTERNATIVE_NAMES = Buffer.from('0603551d11', 'hex')
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex')
const TRUE = Buffer.from('0101ff', 'hex')

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = publicKey.export({ type: 'spki', format: 'der' })
const key = privateKey.export({ type: 'pkcs8', format: 'pem' })

/** A key and a certificate (PEM) for these hosts: ASCII names, or addresses. */
export function certificateFor(hosts) {
  const signature = sequence(ECDSA_SHA256)
  const name = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from('attacks')))))
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    signature,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    spki,
    tagged(
      0xa3,
      sequence(
        sequence(BASIC_CONSTRAINTS, TRUE, tagged(0x04, sequence(TRUE))),
        sequence(ALTERNATIVE_NAMES, tagged(0x04, sequence(...hosts.map(alternativeName)))),
      ),
    ),
  )
  const signed = sequence(body, signature, tagged(0x03, Buffer.from([0]), sign('sha256', body, privateKey)))
  const lines = signed.toString('base64').match(/.{1,64}/g)
  return { key, cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n') }
}

function alternativeName(host) {
  if (isIP(host) === 0) return tagged(0x82, Buffer.from(host, 'latin1'))
  return tagged(0x87, addressBytes(host))
}

function addressBytes(host) {
  if (isIP(host) === 4) return Buffer.from(host.split('.').map(Number))
  const text = new SocketAddress({ address: host, family: 'ipv6' }).address
  const [head = '', tail] = text.split('::')
  const groups = (part) => (part ? part.split(':').map((group) => Number.parseInt(group, 16)) : [])
  const [before, after] = [groups(head), groups(tail)]
  const middle = tail === undefined ? [] : new Array(8 - before.length - after.length).fill(0)
  return Buffer.from([...before, ...middle, ...after].flatMap((group) => [group >> 8, group & 255]))
}

function time(text) {
  return tagged(0x18, Buffer.from(text))
}

function sequence(...parts) {
  return tagged(0x30, ...parts)
}

/** DER: a tag, the length in its shortest form, the content. */
function tagged(tag, ...parts) {
  const content = Buffer.concat(parts)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
