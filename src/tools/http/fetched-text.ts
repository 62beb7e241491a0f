/** What fetchText gives back. */
export interface FetchedText {
  readonly url: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  readonly bytes: number
  readonly fileRef?: string
}
