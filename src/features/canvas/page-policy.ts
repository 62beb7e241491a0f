/** What a canvas may load, as its page says it: nothing from anywhere but our own scripts, where it needs one. */
export function pagePolicy(scripts: readonly string[] = []): string {
  return [
    "default-src 'none'",
    ["script-src 'unsafe-inline'", ...scripts].join(' '),
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    'media-src data: blob:',
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ')
}
