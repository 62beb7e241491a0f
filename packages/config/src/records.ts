import {
  type ConfigDocument,
  configError,
  messageOf,
  RECORDED_OUTPUTS,
  type RecordsOptions,
  type Secret,
} from '@tool-hub/core'
import { fillReferences, key, text, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'

const REFERENCE = /^\$\{(?:env|secret):[A-Za-z_][A-Za-z0-9_.-]*\}$/

/** A value that must not be in the config file itself. */
const reference = z
  .string()
  .regex(REFERENCE, 'a reference, ${env:NAME} or ${secret:name}: the value itself never stands in a config')

const bucket = z.strictObject({
  url: text.describe(
    'Its address, with a prefix if you like: https://s3.eu-central-1.amazonaws.com/my-bucket/tool-hub.',
  ),
  region: text.describe('The region that requests are signed for; for many services us-east-1 or auto.'),
  accessKeyId: text.describe('Id of the key that signs requests. May be ${env:NAME} or ${secret:name}.'),
  secretAccessKey: reference.describe('The key, as a reference: ${env:NAME} or ${secret:name}.'),
  sessionToken: key(reference, 'The token of a temporary key, as a reference.'),
})

/** `records`: what is recorded of outputs, and how records are shared with other machines. */
export const recordsSchema = z.strictObject({
  outputs: key(
    z.enum(RECORDED_OUTPUTS),
    'Which calls have the first and last 4 KB of what they returned on record, redacted.',
    'failed',
  ),
  bucket: key(
    bucket,
    'An S3-compatible bucket for sealed parts of records and large artifacts. Default: they are in the database.',
  ),
})

/** The section with its references filled in. Nothing that is thrown shows a key. */
export async function toRecords(
  document: ConfigDocument,
  written: z.output<typeof recordsSchema>,
  secrets: Readonly<Record<string, Secret>> = {},
): Promise<RecordsOptions> {
  const { outputs } = written
  if (!written.bucket) return withoutUndefined({ outputs })
  const sources = {
    env: process.env,
    secret: (name: string) => (Object.hasOwn(secrets, name) ? secrets[name]!.value : undefined),
  }
  const fill = <T extends string | undefined>(name: string, value: T): T => {
    try {
      return (value && fillReferences(value, sources, `records.bucket.${name}`)) as T
    } catch (error) {
      const path = ['records', 'bucket', name]
      throw configError(document.label, [{ path, message: messageOf(error), position: document.locate(path) }], {
        cause: error,
      })
    }
  }
  const { url, region, accessKeyId, secretAccessKey, sessionToken } = written.bucket
  const filled = {
    url: fill('url', url),
    region: fill('region', region),
    accessKeyId: fill('accessKeyId', accessKeyId),
    secretAccessKey: fill('secretAccessKey', secretAccessKey),
    sessionToken: fill('sessionToken', sessionToken),
  }
  return withoutUndefined({ outputs, bucket: withoutUndefined(filled) })
}
