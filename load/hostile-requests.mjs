const MIB = 1_048_576

/** Requests that two servers could read in two ways, or that are too large: bytes to send, by what is wrong with them. */
export function hostileRequests({ host, token }) {
  const head = (path, ...lines) => `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n`
  const own = [`Host: ${host}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  const echo = '/v1/tools/load.echo/call'
  const body = '{"input":{"text":"x"}}'
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const hidden = `GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const length = `Content-Length: ${body.length}`
  return {
    'a length and chunks': [head(echo, ...own, length, 'Transfer-Encoding: chunked', ''), chunked, hidden],
    'two lengths': [head(echo, ...own, length, 'Content-Length: 0', ''), body, hidden],
    'two lengths in one': [head(echo, ...own, `${length}, 0`, ''), body, hidden],
    'chunks that are not last': [head(echo, ...own, 'Transfer-Encoding: chunked, identity', ''), chunked, hidden],
    'an unknown encoding': [head(echo, ...own, 'Transfer-Encoding: xchunked', ''), chunked, hidden],
    'a blank before the colon': [head(echo, ...own, 'Transfer-Encoding : chunked', ''), chunked, hidden],
    'a folded header': [head(echo, ...own, 'X-Folded: a\r\n b', length, ''), body],
    'a length below zero': [head(echo, ...own, 'Content-Length: -1', ''), body, hidden],
    'a length with a sign': [head(echo, ...own, `Content-Length: +${body.length}`, ''), body, hidden],
    'a chunk of endless size': [head(echo, ...own, 'Transfer-Encoding: chunked', ''), `${'F'.repeat(17)}\r\n${body}`],
    'a chunk size that is none': [
      head(echo, ...own, 'Transfer-Encoding: chunked', ''),
      `0x16\r\n${body}\r\n0\r\n\r\n`,
      hidden,
    ],
    'a NUL in a header': [head(echo, ...own, 'X-Nul: a\0b', length, ''), body],
    'no host': [head(echo, ...own.slice(1), length, ''), body],
    'two hosts': [head(echo, ...own, `Host: ${host}`, length, ''), body],
    'the host of somebody else': [head(echo, 'Host: evil.example.org', ...own.slice(1), length, ''), body],
    'two tokens': [head(echo, ...own, `Authorization: Bearer ${token}`, length, ''), body],
    'a whole URL': [head(`http://evil.example.org${echo}`, ...own, length, ''), body],
    'an endless header': [head(echo, ...own, `X-Long: ${'x'.repeat(20_000)}`, length, ''), body],
    'a thousand headers': [head(echo, ...own, ...Array(1_000).fill('X-Many: 12345678'), length, ''), body],
    'a method of its own': [head(echo, ...own, length, '').replace('POST', 'TRACE'), body],
    'a body that says that it is large': [head(echo, ...own, `Content-Length: ${20 * MIB}`, ''), body],
    'a body that is large': [head(echo, ...own, 'Transfer-Encoding: chunked', ''), ...Array(12).fill(chunkOf(MIB))],
    'a body that is compressed': [head(echo, ...own, 'Content-Encoding: gzip', length, ''), body],
    'a body that is no JSON': [head(echo, ...own, 'Content-Length: 5', ''), '{"a":'],
    'a body that is deep': withBody(`{"input":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    'a form of another site': [head(echo, ...own.slice(0, 2), 'Content-Type: text/plain', length, ''), body],
  }

  function withBody(text) {
    return [head(echo, ...own, `Content-Length: ${text.length}`, ''), text]
  }
}

function chunkOf(bytes) {
  return `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`
}
