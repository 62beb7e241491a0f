import type { ChannelLimits, MessageFile, NewMessage } from '../../contracts/messages.ts'
import { ToolError } from '../../errors.ts'
import { cleanFileName } from './clean-file-name.ts'
import { mediaTypeOf } from './media-type-of.ts'

/** What no channel may exceed. */
export const MOST_ATTACHMENTS = 10
export const MOST_ATTACHMENT_BYTES = 10_000_000

const REF = /^artifact:[0-9a-f]{64}$/

/** Reads the artifacts that go with a message; too many, or too large ones, are refused. */
export async function readAttachments(
  wanted: NonNullable<NewMessage['attachments']>,
  { maxAttachments = 0, maxAttachmentBytes = MOST_ATTACHMENT_BYTES }: ChannelLimits,
  {
    channel,
    read,
  }: { readonly channel: string; readonly read: (ref: string, maxBytes: number) => Promise<Uint8Array> },
): Promise<readonly MessageFile[]> {
  if (wanted.length === 0) return []
  const most = Math.min(maxAttachments, MOST_ATTACHMENTS)
  if (wanted.length > most) throw tooMany(channel, wanted.length, most)
  const mostBytes = Math.min(maxAttachmentBytes, MOST_ATTACHMENT_BYTES)
  const files: MessageFile[] = []
  let bytes = 0
  for (const [index, { ref, name: given }] of wanted.entries()) {
    if (!REF.test(ref)) throw notARef(ref)
    const content = await read(ref, mostBytes - bytes)
    bytes += content.byteLength
    const name = cleanFileName(given, index)
    files.push({ ref, name, mediaType: mediaTypeOf(name), content })
  }
  return files
}

function tooMany(channel: string, count: number, most: number): ToolError {
  const takes = most === 0 ? 'takes no attachments' : `takes at most ${most} at once`
  return new ToolError(
    'INPUT_SCHEMA_INVALID',
    `The message has ${count} attachments; the channel ${channel} ${takes}.`,
    {
      hint: most === 0 ? 'Put what matters into the text, or use another channel.' : 'Send the others separately.',
    },
  )
}

function notARef(ref: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(ref.slice(0, 100))} is not an artifact of this run.`, {
    hint: 'Use the ref of an artifact as a result gives it: artifact:<sha256>.',
  })
}
