const LONGEST = 100
// Folders, what headers and shells read, controls and everything that is not drawn.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"'`<>:|?*;%$&\\/]/gu

/** The name of a file as any receiver can take it: no folders, no quotes, no control characters, not hidden. */
export function cleanFileName(name: string | undefined, index: number): string {
  const last = (name ?? '').split(/[\\/]/).at(-1)!
  const clean = last
    .replace(UNSAFE, '_')
    .trim()
    .replace(/^[.\s]+/, '')
  if (clean === '') return `attachment-${index + 1}`
  if (clean.length <= LONGEST) return clean
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? ''
  return clean.slice(0, LONGEST - extension.length) + extension
}
