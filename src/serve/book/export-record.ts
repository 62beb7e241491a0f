import { join } from 'node:path'
import { Readable } from 'node:stream'
import { errnoOf } from '../../disk/errno.ts'
import { openRegular } from '../../disk/open-regular.ts'
import { ToolError } from '../../errors.ts'

/** The record of a run as it is on disk now, to the byte; whoever cancels the stream closes the file. */
export async function exportRecord(folder: string): Promise<ReadableStream<Uint8Array>> {
  const file = await openRegular(join(folder, 'events.jsonl')).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw error
    throw new ToolError('NOT_FOUND', 'The record of this run is gone.', {
      hint: 'It was removed from the folder of runs. tool-hub runs reindex takes it out of the lists.',
    })
  })
  const { size } = await file.stat()
  // Without an end it would go on as long as somebody writes faster than it is read.
  if (size > 0) return Readable.toWeb(file.createReadStream({ end: size - 1 })) as ReadableStream<Uint8Array>
  await file.close()
  return new ReadableStream({ start: (controller) => controller.close() })
}
