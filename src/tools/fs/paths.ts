import { z } from 'zod'

/** The schema of a path argument; the guard decides which paths are allowed. */
export function pathSchema(description: string) {
  return z.string().min(1).max(4_096).describe(description)
}

/** Other spellings of `path` that models use. */
export const PATH_ALIASES = { file_path: 'path', filePath: 'path' } as const

/** Joins a folder, as the caller named it, and a path found below it. */
export function joinPath(folder: string, name: string): string {
  if (folder === '.' || folder === './') return name
  return folder.endsWith('/') ? folder + name : `${folder}/${name}`
}

/** A text for a message: quoted, control characters escaped, of bounded length. */
export function quote(text: string, most = 200): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text)
}

/** `1 file`, `2 files`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
