import { ToolError } from '@tool-hub/core'

/** The address of a bucket without slashes at its end. Throws CONFIG_INVALID for one that cannot be that of a bucket. */
export function bucketAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.search && !parsed.hash
  if (isPlain) return parsed.href.replace(/\/+$/, '')
  throw new ToolError('CONFIG_INVALID', 'records.bucket.url is not the address of a bucket.', {
    fix: { key: 'records.bucket.url', hint: 'Use one such as https://s3.eu-central-1.amazonaws.com/my-bucket.' },
  })
}
