// They carry or ask for credentials, which are nobody's business but the guard's; or are no names for a key.
const HIDDEN =
  /^(set-cookie2?|cookie|authorization|.*authenticat.*|proxy-.*|x-(csrf|xsrf|auth|access|amz-security)-.*|__proto__|constructor|prototype)$/

/** The headers of an answer that a tool hands on. */
export function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name in headers) if (!HIDDEN.test(name)) shown[name] = headers[name]!
  return shown
}
