/** Values of a URL that is a secret, in the forms in which they could turn up. */
export function secretsOfUrl(url: URL): string[] {
  const parts = url.pathname.split('/').filter((part) => part.length >= 16)
  return [url.href, url.pathname, ...parts].filter((value) => value.length >= 8)
}
