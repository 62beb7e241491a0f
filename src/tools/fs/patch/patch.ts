/** One line of a chunk: a context line stays, the others are taken away or added. */
export interface PatchLine {
  readonly sign: ' ' | '+' | '-'
  readonly text: string
}

/** Lines that stand together in a file, and what becomes of them. */
export interface PatchChunk {
  /** Lines to look for first, one after the other: `@@ class A`, `@@ method()`. */
  readonly anchors: readonly string[]
  readonly lines: readonly PatchLine[]
  /** The chunk stands at the end of the file. */
  readonly isAtEnd: boolean
  /** 1-based line of the patch where it begins. */
  readonly line: number
}

/** What a patch does to one file. */
export type PatchSection =
  | { readonly type: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly to?: string; readonly chunks: readonly PatchChunk[] }
