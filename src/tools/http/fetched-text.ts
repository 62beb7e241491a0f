import type { GuardedResponse } from '../../core/handles.ts'
import { shownHeaders } from './shown-headers.ts'

/** What fetchText returns. */
export interface FetchedText {
  readonly url: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  readonly bytes: number
  readonly fileRef?: string
}

/** The text of an answer, or its beginning, with what is reported about it. */
export async function toFetchedText(response: GuardedResponse): Promise<FetchedText> {
  const { url, status, headers } = response
  const { length: bytes } = await response.bytes()
  return { url, status, headers: shownHeaders(headers), text: await response.text(), bytes }
}
