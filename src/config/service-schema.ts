import { z } from 'zod'
import { duration, key, rate, text } from './schema-parts.ts'

const oidc = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }).describe('Who signs the tokens, as their iss says.'),
  audience: text.describe('This service, as their aud says.'),
  jwks: key(z.url({ protocol: /^https?$/ }), "Where the issuer's keys are. Default: discovered through the issuer."),
  scopesClaim: key(text, 'The claim that lists what somebody may: call, approve, read, admin.', 'scope'),
  scopes: key(
    z.record(z.string(), z.array(z.enum(['call', 'approve', 'read', 'admin']))),
    'What values of that claim mean here, where they are other words.',
  ),
})

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe('Where to send what waits for a person.'),
  secret: text.describe('Environment variable with the key that signs it, at least 24 characters.'),
  events: key(z.array(z.enum(['approval', 'question'])), 'What to send. Default: both.'),
})

const logFormat = z.enum(['json', 'text', 'none'])

/** `service`: how `tool-hub serve` is reached. */
export const serviceSchema = z.strictObject({
  host: key(text, 'Address to listen on. Anything but loopback needs publicUrl.', '127.0.0.1'),
  port: key(z.int().min(0).max(65_535), 'Port to listen on; 0 takes any that is free.', 4040),
  publicUrl: key(
    z.url({ protocol: /^https?$/ }),
    'How people reach it, e.g. through a proxy that speaks https; used in links.',
  ),
  allowedHosts: key(z.array(text), 'Further names it may be addressed by.', []),
  allowedOrigins: key(z.array(text), 'Further web pages that may call it: https://tools.example.org.', []),
  trustedProxies: key(
    z.array(text),
    'Addresses or networks of proxies whose X-Forwarded-For is believed: 10.0.0.7, 10.0.0.0/8.',
    [],
  ),
  oidc: key(z.union([oidc, z.array(oidc)]), 'Sign-in of people by tokens of your identity provider.'),
  webhooks: key(z.array(webhook), 'Where to send what waits for a person, signed, with a link to answer it once.'),
  rate: key(rate, 'Requests of one principal, unless its token says.', '1000/s'),
  maxConnections: key(
    z.int().min(1),
    'Connections at a time, WebSockets and event streams included. Default: half of the files that the process may open, at most 10000.',
  ),
  approvalTimeout: key(duration, 'How long a call waits for a person, instead of approvals.timeout.', '1h'),
  log: key(
    z.union([
      logFormat,
      z.strictObject({
        format: key(logFormat, 'Lines of JSON, lines for people, or no lines. Default: text on a terminal, else json.'),
        level: key(
          z.enum(['debug', 'info', 'warn', 'error']),
          'The least that is logged; debug has every call.',
          'info',
        ),
      }),
    ]),
    'What the service writes to stderr: start, sign-ins, denials, errors, changes; docs/reference/service.md.',
  ),
  shutdown: key(duration, 'How long calls under way may go on when it ends.', '10s'),
})

/** The section as it was written, checked. */
export type WrittenService = z.output<typeof serviceSchema>
