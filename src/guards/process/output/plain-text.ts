// CSI; strings (OSC, DCS, SOS, PM, APC), which a line end gives up so that a stray one does not eat what follows; the
// short ones; C1's CSI; and the bell, backspace and shifts. Each part is a run of characters that cannot begin the
// next, so the time is linear. Node's stripVTControlCharacters leaves titles with blanks in them, and DCS.
const CODES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?|\u009b[0-?]*[ -/]*[@-~]|[\u0007\u0008\u000e\u000f]/g

/** Bytes without which no terminal code is there. */
export const CODE_BYTES: readonly number[] = [0x1b, 0x9b, 0x07, 0x08, 0x0e, 0x0f]

const UNFINISHED = /^\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*|[ -/]*)$/
const LONGEST_CODE = 4096

/** Text as a terminal would show it in the end: without codes, and a line that was drawn over as it was drawn last. */
export function plainText(text: string): string {
  return collapseLines(stripCodes(text))
}

/** Takes terminal codes out. */
export function stripCodes(text: string): string {
  return text.replace(CODES, '')
}

/** How many characters at the end are the beginning of a code whose rest has not come yet. */
export function unfinishedCode(text: string): number {
  const at = text.lastIndexOf('\u001b')
  const length = text.length - at
  return at !== -1 && length <= LONGEST_CODE && UNFINISHED.test(text.slice(at)) ? length : 0
}

/** Lines as they were drawn last: progress bars go back to the beginning of the line with a carriage return. */
export function collapseLines(text: string): string {
  if (!text.includes('\r')) return text
  return text.split('\n').map(lastDrawn).join('\n')
}

/** What stands in a line in the end. */
export function lastDrawn(line: string): string {
  if (!line.includes('\r')) return line
  let end = line.length
  while (line[end - 1] === '\r') end -= 1
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1, end)
}
