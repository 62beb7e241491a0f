/** What the file system says about one entry. */
export interface FileFacts {
  /** Real absolute path. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  readonly bytes: number
  /** ISO time of the last change. */
  readonly modified: string
  /** Permission bits: 0o644. */
  readonly mode: number
}

/** How the text of a file is written; the mark at its beginning is not part of the text. */
export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be'

/** A whole file, decoded. */
export interface FileText {
  readonly path: string
  readonly text: string
  /** Bytes of the file, its mark and encoding counted in. */
  readonly bytes: number
  readonly sha256: string
  readonly encoding: Encoding
}

/** Bytes of a file from some place on. */
export interface FileBytes {
  readonly path: string
  readonly content: Uint8Array
  readonly offset: number
  /** Bytes of the whole file. */
  readonly bytes: number
}

/** Some whole lines of a file. */
export interface LinePage {
  readonly path: string
  /** The lines joined as they stand in the file, without the last line end. */
  readonly text: string
  /** 1-based number of the first line, and of the last; `to < from` when the page is empty. */
  readonly from: number
  readonly to: number
  readonly totalLines: number
  /** Bytes of the whole file. */
  readonly bytes: number
  /** A line that alone is over the limit: nothing of it is in `text`, `readBytes` reads it. */
  readonly tooLong?: { readonly line: number; readonly offset: number; readonly bytes: number }
}

/** One entry of a listing. */
export interface ListEntry {
  /** Relative to the listed folder, `/` between its parts. */
  readonly name: string
  readonly type: FileFacts['type']
  readonly size: number
  readonly mtime: string
}

/** What to list. */
export interface ListOptions {
  readonly recursive?: boolean
  /** 1 is the folder itself. */
  readonly maxDepth?: number
  readonly maxEntries?: number
  readonly includeHidden?: boolean
}

/** A folder, sorted by name. */
export interface Listing {
  readonly path: string
  readonly entries: readonly ListEntry[]
  /** False when entries were left out: at the limit, below the depth, or in folders that cannot be read. */
  readonly isComplete: boolean
}

/** What to look for in files. */
export interface SearchOptions {
  readonly pattern: string
  /** The pattern is plain text unless said. */
  readonly isRegex?: boolean
  readonly ignoreCase?: boolean
  /** Globs of the files to look into, relative to the folder; `!` before one leaves files out. */
  readonly globs?: readonly string[]
  /** A kind of files by its usual name: `ts`, `py`, `md`. */
  readonly type?: string
  readonly contextLines?: number
  /** Patterns may span lines. */
  readonly multiline?: boolean
  /** Lines, or only which files, or how many matching lines in each. */
  readonly output?: 'lines' | 'files' | 'counts'
  readonly maxMatches?: number
  readonly maxFiles?: number
  readonly includeHidden?: boolean
  /** Look into what .gitignore leaves out, too. */
  readonly includeIgnored?: boolean
}

/** One line that was found, or that stands around one. */
export interface FoundLine {
  /** Relative to the searched folder. */
  readonly file: string
  readonly line: number
  readonly text: string
  /** False for the lines around a match. */
  readonly isMatch: boolean
}

/** What a search found, sorted by file and line. */
export interface SearchResult {
  readonly lines: readonly FoundLine[]
  readonly files: ReadonlyArray<{ readonly file: string; readonly matches: number }>
  /** False when a limit ended the search early. */
  readonly isComplete: boolean
  /** Files that could not be looked into: unreadable, too large, changed meanwhile. Not secret, denied and binary ones. */
  readonly skipped: number
  readonly engine: 'ripgrep' | 'built-in'
}

/** Which files to find by name. */
export interface FindOptions {
  /** `*.ts` matches at any depth, `src/**` from the folder on. */
  readonly pattern: string
  readonly limit?: number
  readonly includeHidden?: boolean
  readonly includeIgnored?: boolean
}

/** Paths of files, relative to the searched folder, sorted. */
export interface FindResult {
  readonly files: readonly string[]
  readonly isComplete: boolean
}

/** The files handle of a tool that declares `read:fs`. */
export interface ReadFiles {
  readText(path: string, options?: { readonly maxBytes?: number }): Promise<string>
  /** The whole file with what is to know about it; FILE_TOO_LARGE over the limit. */
  readFile(path: string, options?: { readonly maxBytes?: number }): Promise<FileText>
  /** A part of a file of any size. */
  readBytes(path: string, options?: { readonly offset?: number; readonly maxBytes?: number }): Promise<FileBytes>
  /** Whole lines from the middle of a file of any size, for the price of the page. */
  readLines(
    path: string,
    options?: { readonly offset?: number; readonly limit?: number; readonly maxBytes?: number },
  ): Promise<LinePage>
  stat(path: string): Promise<FileFacts>
  sha256(path: string): Promise<{ readonly path: string; readonly sha256: string; readonly bytes: number }>
  list(path: string, options?: ListOptions): Promise<Listing>
  search(path: string, options: SearchOptions): Promise<SearchResult>
  find(path: string, options: FindOptions): Promise<FindResult>
}

/** How a file is written. */
export interface WriteOptions {
  /** Replacing a file needs `danger:destructive`, or that this run has read what is replaced. */
  readonly overwrite?: boolean
  /** Make the folders above; true unless said. */
  readonly mkdirp?: boolean
  /** The file must still hold this content (SHA-256); CONFLICT otherwise. */
  readonly replaces?: string
  /** Permission bits of the file; those of the replaced one, or of any new file, unless said. */
  readonly mode?: number
}

/** What a write left behind. */
export interface Written {
  readonly bytes: number
  readonly sha256: string
}

/** One of several changes that happen together or not at all. */
export type FileChange =
  | { readonly type: 'create'; readonly path: string; readonly content: string | Uint8Array; readonly mode?: number }
  | {
      readonly type: 'replace'
      readonly path: string
      readonly content: string | Uint8Array
      readonly replaces: string
    }
  | {
      readonly type: 'remove'
      readonly path: string
      readonly replaces: string
      /** The content lives on at this path, which the same changes create: nothing is destroyed. */
      readonly movedTo?: string
    }

/** The files handle of a tool that declares `write:fs`. Every change is atomic, durable and can be undone. */
export interface WriteFiles {
  writeText(path: string, text: string, options?: WriteOptions): Promise<Written>
  /** Bytes at once or as they come; nothing half-written is ever seen. */
  writeBytes(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: WriteOptions & { readonly maxBytes?: number },
  ): Promise<Written>
  /** All of the changes or none. */
  changeAll(changes: readonly FileChange[]): Promise<readonly Written[]>
  makeFolder(path: string, options?: { readonly mkdirp?: boolean }): Promise<{ path: string; created: boolean }>
  /** Moves a file or a folder to a name that is free. */
  move(from: string, to: string, options?: { readonly mkdirp?: boolean }): Promise<{ from: string; to: string }>
  /** Copies a file or a folder to a name that is free; links are not copied. */
  copy(from: string, to: string, options?: { readonly mkdirp?: boolean }): Promise<CopyResult>
  /** Needs `danger:destructive`. A folder that is not empty needs `recursive`. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<RemoveResult>
}

/** What was copied. */
export interface CopyResult {
  readonly path: string
  readonly files: number
  readonly bytes: number
  /** Links and special files that were left out. */
  readonly skipped: number
}

/** What was removed. */
export interface RemoveResult {
  readonly path: string
  readonly type: FileFacts['type']
  readonly files: number
  readonly bytes: number
}

/** What a tool may say about a request. */
export interface FetchOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Most bytes of the answer, after decompression. */
  readonly maxBytes?: number
  /** Over names, connections, redirects, retries and the body together. */
  readonly timeoutMs?: number
  /**
   * A longer answer fails with HTTP_TOO_LARGE unless said; `cut` keeps its beginning. So does `stream`, and `chunks()`
   * gives all of it, under the size limit of streams.
   */
  readonly overflow?: 'fail' | 'cut' | 'stream'
  /** How often a GET or HEAD that failed for a passing reason is repeated; none unless said. */
  readonly retries?: number
  /** Take an answer that this run got at most so long ago; none unless said. */
  readonly maxAgeMs?: number
  /** The body is not read ahead: `chunks()` gives it as it comes, under the same time and size limits. */
  readonly stream?: boolean
}

/** An answer whose every hop was judged. */
export interface GuardedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Where it came from, after redirects. */
  readonly url: string
  /** The body went on after `maxBytes`: `bytes()` and `text()` are its beginning. Only with `overflow`. */
  readonly isCut: boolean
  /** An earlier answer that is still good. */
  readonly isCached: boolean
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
  chunks(): AsyncIterable<Uint8Array>
  /** What a person would read of an HTML page; other text as it is. Hostile HTML is read apart, under a time limit. */
  readable(options?: { readonly as?: 'markdown' | 'text' }): Promise<ReadablePage>
}

/** The article of a page, without menus and scripts. */
export interface ReadablePage {
  readonly title?: string
  readonly byline?: string
  readonly language?: string
  readonly text: string
}

/** The network handle of a tool that declares `network`; a request that sends data also needs `send`. */
export type GuardedFetch = (url: string, options?: FetchOptions) => Promise<GuardedResponse>
