/** What the file system says about one entry. */
export interface FileFacts {
  /** Real absolute path. */
  readonly path: string
  /** What it is; links that stay below a root are followed. */
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  /** Size; for a folder, what the file system says of the entry itself. */
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
  /** Real absolute path. */
  readonly path: string
  /** The content as text, without the byte order mark. */
  readonly text: string
  /** Bytes of the file, its mark and encoding counted in. */
  readonly bytes: number
  /** Hash of the bytes in lower-case hex; pass it as `replaces` to change exactly this content. */
  readonly sha256: string
  /** How the file is written, found by its byte order mark. */
  readonly encoding: Encoding
}

/** Bytes of a file from some place on. */
export interface FileBytes {
  /** Real absolute path. */
  readonly path: string
  /** The bytes that were read; fewer than asked for at the end of the file. */
  readonly content: Uint8Array
  /** Where `content` begins in the file. */
  readonly offset: number
  /** Bytes of the whole file. */
  readonly bytes: number
}

/** Some whole lines of a file. */
export interface LinePage {
  /** Real absolute path. */
  readonly path: string
  /** The lines joined as they stand in the file, without the last line end. */
  readonly text: string
  /** 1-based number of the first line, and of the last; `to < from` when the page is empty. */
  readonly from: number
  /** 1-based number of the last line of the page. */
  readonly to: number
  /** Lines of the whole file. */
  readonly totalLines: number
  /** Bytes of the whole file. */
  readonly bytes: number
  /** A line that alone is over the limit: nothing of it is in `text`, `readBytes` reads it. */
  readonly tooLong?: { readonly line: number; readonly offset: number; readonly bytes: number }
}

/** One entry of a listing without details. */
export interface NamedEntry {
  /** Relative to the listed folder, `/` between its parts. */
  readonly name: string
  /** What it is; a symbolic link is not followed. */
  readonly type: FileFacts['type']
}

/** One entry of a listing. */
export interface ListEntry extends NamedEntry {
  /** Size in bytes. */
  readonly size: number
  /** ISO time of the last change. */
  readonly mtime: string
}

/** What to list. */
export interface ListOptions {
  /** Lists the folders below, too. Default: `false`. */
  readonly recursive?: boolean
  /** 1 is the folder itself. */
  readonly maxDepth?: number
  /** Most entries. Default: 2,000; at most 100,000. */
  readonly maxEntries?: number
  /** Lists names that begin with a dot, too. Default: `false`. */
  readonly includeHidden?: boolean
  /** Size and time of each entry; `NameOptions` leaves them out. */
  readonly details?: true
}

/** What to list by names and types alone, which is several times faster in a large tree. */
export interface NameOptions extends Omit<ListOptions, 'details'> {
  /** Lists neither size nor time. */
  readonly details: false
}

/** A folder, sorted by name. */
export interface Listing<Entry extends NamedEntry = ListEntry> {
  /** Real absolute path of the folder. */
  readonly path: string
  /** The entries; a secret or denied folder is named but not entered. */
  readonly entries: readonly Entry[]
  /** False when entries were left out: at the limit, below the depth, or in folders that cannot be read. */
  readonly isComplete: boolean
}

/** What to look for in files. */
export interface SearchOptions {
  /** What to find: plain text, or with `isRegex` a regular expression. */
  readonly pattern: string
  /** Default: the pattern is plain text. */
  readonly isRegex?: boolean
  /** Upper and lower case match each other. Default: `false`. */
  readonly ignoreCase?: boolean
  /** Globs of the files to look into, relative to the folder; `!` before one leaves files out. */
  readonly globs?: readonly string[]
  /** A kind of files by its usual name: `ts`, `py`, `md`. */
  readonly type?: string
  /** Lines to return before and after each match. Default: 0; at most 100. */
  readonly contextLines?: number
  /** Patterns may span lines. */
  readonly multiline?: boolean
  /** Lines, or only which files, or how many matching lines in each. */
  readonly output?: 'lines' | 'files' | 'counts'
  /** Most matching lines. Default: 1,000; at most 100,000. */
  readonly maxMatches?: number
  /** Most files with a match. Default: 2,000; at most 100,000. */
  readonly maxFiles?: number
  /** Looks into files and folders whose names begin with a dot, too. Default: `false`. */
  readonly includeHidden?: boolean
  /** Look into what .gitignore leaves out, too. */
  readonly includeIgnored?: boolean
}

/** A line that matches, or that surrounds a match. */
export interface FoundLine {
  /** Relative to the searched folder. */
  readonly file: string
  /** 1-based number of the line. */
  readonly line: number
  /** The line without its end. */
  readonly text: string
  /** False for the lines around a match. */
  readonly isMatch: boolean
}

/** What a search found, sorted by file and line. */
export interface SearchResult {
  /** Matching lines and the lines around them; empty unless `output` is `lines`. */
  readonly lines: readonly FoundLine[]
  /** Files with a match, and how many lines match in each. */
  readonly files: ReadonlyArray<{ readonly file: string; readonly matches: number }>
  /** False when a limit ended the search early. */
  readonly isComplete: boolean
  /**
   * Files that could not be looked into: unreadable, too large, changed meanwhile. Not secret, denied and binary ones.
   */
  readonly skipped: number
}

/** Which files to find by name. */
export interface FindOptions {
  /** `*.ts` matches at any depth, `src/**` from the folder on. */
  readonly pattern: string
  /** Most files. Default: 1,000; at most 100,000. */
  readonly limit?: number
  /** Finds names that begin with a dot, too. Default: `false`. */
  readonly includeHidden?: boolean
  /** Finds what .gitignore leaves out, too. Default: `false`. */
  readonly includeIgnored?: boolean
}

/** Paths of files, relative to the searched folder, sorted. */
export interface FindResult {
  /** The paths, with `/` between their parts. */
  readonly files: readonly string[]
  /** `false` when the limit or the time ended the search early. */
  readonly isComplete: boolean
}

/** The files handle of a tool that declares `read:fs`. */
export interface ReadFiles {
  /**
   * Reads a whole text file, UTF-8 or UTF-16. Throws `NOT_FOUND`, or `FILE_TOO_LARGE` over `maxBytes` (default:
   * `limits.readBytes`, 5 MiB).
   */
  readText(path: string, options?: { readonly maxBytes?: number }): Promise<string>
  /** Reads a whole text file with its size, hash and encoding. Throws FILE_TOO_LARGE over the limit. */
  readFile(path: string, options?: { readonly maxBytes?: number }): Promise<FileText>
  /** Reads a range of a file of any size. */
  readBytes(path: string, options?: { readonly offset?: number; readonly maxBytes?: number }): Promise<FileBytes>
  /** Reads whole lines from anywhere in a file of any size, at the cost of the page. */
  readLines(
    path: string,
    options?: {
      /** The first line, 1-based. Default: 1. */
      readonly offset?: number
      /** The most lines. Default: 2,000. */
      readonly limit?: number
      /** The most bytes of the text. Default: 50,000. */
      readonly maxBytes?: number
      /** The most UTF-16 code units of the text. Default: as many as fit into `maxBytes`. */
      readonly maxChars?: number
    },
  ): Promise<LinePage>
  /** What the file system says about a path; throws `NOT_FOUND` if nothing is there. */
  stat(path: string): Promise<FileFacts>
  /** Hash of a file of any size, in lower-case hex. */
  sha256(path: string): Promise<{ readonly path: string; readonly sha256: string; readonly bytes: number }>
  /** Lists a folder, sorted by name; throws `NOT_FOUND` if there is none. */
  list(path: string, options?: ListOptions): Promise<Listing>
  /** Lists names and types alone. */
  list(path: string, options: NameOptions): Promise<Listing<NamedEntry>>
  /** Finds text in the files below a folder, as grep does; leaves out what .gitignore names. */
  search(path: string, options: SearchOptions): Promise<SearchResult>
  /** Finds files by name below a folder; leaves out what .gitignore names. */
  find(path: string, options: FindOptions): Promise<FindResult>
}

/** How a file is written. */
export interface WriteOptions {
  /** Replacing a file needs `danger:destructive`, or that this run has read what is replaced. */
  readonly overwrite?: boolean
  /** Make the folders above. Default: true. */
  readonly mkdirp?: boolean
  /** The file must still hold this content (SHA-256); CONFLICT otherwise. */
  readonly replaces?: string
  /** Permission bits of the file. Default: those of the replaced one, or of any new file. */
  readonly mode?: number
}

/** The result of a write. */
export interface Written {
  /** Size of the file afterwards. */
  readonly bytes: number
  /** Hash of its content in lower-case hex. */
  readonly sha256: string
}

/** One of several changes that happen together or not at all. */
export type FileChange =
  | {
      readonly type: 'create'
      /** The file, which must not exist yet; below a root that can be written. */
      readonly path: string
      /** Its whole content; text is written as UTF-8. */
      readonly content: string | Uint8Array
      /** Permission bits. Default: those of any new file. */
      readonly mode?: number
    }
  | {
      readonly type: 'replace'
      /** The file; below a root that can be written. */
      readonly path: string
      /** Its whole new content; text is written as UTF-8. */
      readonly content: string | Uint8Array
      /** SHA-256 that the file must still have; `CONFLICT` otherwise. */
      readonly replaces: string
    }
  | {
      readonly type: 'remove'
      /** The file; below a root that can be written. */
      readonly path: string
      /** SHA-256 that the file must still have; `CONFLICT` otherwise. */
      readonly replaces: string
      /** The content lives on at this path, which the same changes create: nothing is destroyed. */
      readonly movedTo?: string
    }

/** The files handle of a tool that declares `write:fs`. Every change is atomic, durable and can be undone. */
export interface WriteFiles {
  /** Writes a whole file as UTF-8. Throws `CONFLICT` if it exists and neither `overwrite` nor `replaces` is given. */
  writeText(path: string, text: string, options?: WriteOptions): Promise<Written>
  /** Bytes in one piece or as they come; nothing half-written is ever seen. */
  writeBytes(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: WriteOptions & { readonly maxBytes?: number },
  ): Promise<Written>
  /** All of the changes or none. */
  changeAll(changes: readonly FileChange[]): Promise<readonly Written[]>
  /** Makes a folder and, unless `mkdirp` is `false`, those above it; `created` is `false` if it was there. */
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
  /** Real absolute path of the copy. */
  readonly path: string
  /** Files that were copied. */
  readonly files: number
  /** Bytes of all of them. */
  readonly bytes: number
  /** Links and special files that were left out. */
  readonly skipped: number
}

/** What was removed. */
export interface RemoveResult {
  /** Real absolute path that is gone. */
  readonly path: string
  /** What it was. */
  readonly type: FileFacts['type']
  /** Files that were removed. */
  readonly files: number
  /** Bytes of all of them. */
  readonly bytes: number
}

/** What a tool may say about a request. */
export interface FetchOptions {
  /** HTTP method. Default: `GET`. All but GET, HEAD and OPTIONS also need the capability `send`. */
  readonly method?: string
  /** Further headers; `${secret:NAME}` is filled in for the hosts of that secret. */
  readonly headers?: Readonly<Record<string, string>>
  /** What is sent, as UTF-8. Default: nothing. */
  readonly body?: string
  /** Most bytes of the answer, after decompression. */
  readonly maxBytes?: number
  /** Over names, connections, redirects, retries and the body together. */
  readonly timeoutMs?: number
  /**
   * By default a longer answer fails with HTTP_TOO_LARGE; `cut` keeps its beginning. So does `stream`, and `chunks()`
   * gives all of it, under the size limit of streams.
   */
  readonly overflow?: 'fail' | 'cut' | 'stream'
  /** How often a GET or HEAD that failed for a passing reason is repeated. Default: none. */
  readonly retries?: number
  /** Take an answer that this run got at most so long ago. Default: none. */
  readonly maxAgeMs?: number
  /** The body is not read ahead: `chunks()` gives it as it comes, under the same time and size limits. */
  readonly stream?: boolean
}

/** A response; policy judged every hop. */
export interface GuardedResponse {
  /** HTTP status; 400 and above are returned, not thrown. */
  readonly status: number
  /** Headers by their lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Where it came from, after redirects. */
  readonly url: string
  /** Whether the body is longer than `maxBytes`: `bytes()` and `text()` are its beginning. Only with `overflow`. */
  readonly isCut: boolean
  /** Whether it is an earlier response from the cache. */
  readonly isCached: boolean
  /** The body, at most `maxBytes`. */
  bytes(): Promise<Uint8Array>
  /** The body as text, decoded as its headers say. */
  text(): Promise<string>
  /** The body piece by piece, as it comes with `stream`; such a body can be read once. */
  chunks(): AsyncIterable<Uint8Array>
  /** What a person would read of an HTML page; other text as it is. Hostile HTML is read apart, under a time limit. */
  readable(options?: { readonly as?: 'markdown' | 'text' }): Promise<ReadablePage>
}

/** The article of a page, without menus and scripts. */
export interface ReadablePage {
  /** Title of the page, where it has one. */
  readonly title?: string
  /** Who wrote it, where the page says so. */
  readonly byline?: string
  /** Language tag such as `en`, where the page says so. */
  readonly language?: string
  /** The article as Markdown, or as plain text with `as: 'text'`. */
  readonly text: string
}

/** The network handle of a tool that declares `network`; a request that sends data also needs `send`. */
export type GuardedFetch = (url: string, options?: FetchOptions) => Promise<GuardedResponse>

/**
 * How strongly the file guard holds a path: `descriptors` starts every step at a folder that is held open, which needs
 * /proc; `paths` compares before and after each step, and refuses when something changed in between.
 */
export type FilesLevel = 'descriptors' | 'paths'
