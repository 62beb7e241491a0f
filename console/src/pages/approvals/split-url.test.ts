import { expect, it } from 'vitest'
import { splitUrl } from './split-url.ts'

it.each([
  ['https://example.com/a', 'example.com'],
  ['https://EXAMPLE.com:8443?q', 'EXAMPLE.com:8443'],
  ['https://good.example@evil.example/', 'evil.example'],
  ['https://a@b@evil.example/', 'evil.example'],
  ['http://[::1]:80/x', '[::1]'],
  ['not a url', ''],
])('finds where %s goes', (url, host) => {
  const parts = splitUrl(url)
  expect(parts.host).toBe(host)
  expect(parts.before + parts.host + parts.after).toBe(url)
})
