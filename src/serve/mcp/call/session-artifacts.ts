import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { ToolError } from '../../../errors.ts'
import type { Artifact } from '../../../result.ts'
import type { ServedHub } from '../options.ts'

const URI = /^artifact:\/\/([A-Za-z0-9._-]{1,64})\/([0-9a-f]{64})(?:\?offset=(\d{1,12}))?$/
const MOST_REMEMBERED = 1_000
/** Bytes of one answer. */
const MOST_BYTES = 10_000_000
/** Bytes of an artifact of which parts can be read at all: each time, the whole is read and its hash checked. */
const MOST_WHOLE_BYTES = 200_000_000
const TEXT = /^text\/|[/+](?:json|xml|yaml|javascript)\b/

/** The artifacts that calls of one session made: what its client can list and read, and nobody else's. */
export class SessionArtifacts {
  readonly #hub: ServedHub
  readonly #run: string
  /** By hash; the newest is last. */
  readonly #known = new Map<string, Artifact>()

  constructor(hub: ServedHub, run: string) {
    this.#hub = hub
    this.#run = run
  }

  /** Remembers an artifact; gives back its address. */
  readonly uriOf = (artifact: Artifact): string => {
    this.#known.delete(artifact.sha256)
    this.#known.set(artifact.sha256, artifact)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_REMEMBERED) this.#known.delete(oldest!)
    return `artifact://${this.#run}/${artifact.sha256}`
  }

  list(): Resource[] {
    return [...this.#known.values()].map(({ sha256, name, mediaType, bytes }) => ({
      uri: `artifact://${this.#run}/${sha256}`,
      name,
      mimeType: mediaType,
      size: bytes,
    }))
  }

  /** The content, at most 10 MB from the offset on; `_meta` says where it goes on. */
  async read(uri: string): Promise<ReadResourceResult> {
    const [, run, hash, offset = '0'] = URI.exec(uri) ?? []
    const artifact = run === this.#run ? this.#known.get(hash!) : undefined
    if (!artifact) throw notFound(uri)
    if (artifact.bytes > MOST_WHOLE_BYTES) throw tooLarge(uri, artifact)
    const bytes = await this.#load(artifact, uri)
    return { contents: [part(uri, artifact, bytes, Number(offset))] }
  }

  async #load({ ref }: Artifact, uri: string): Promise<Uint8Array> {
    try {
      return await this.#hub.artifact(ref, { run: this.#run })
    } catch (error) {
      if (ToolError.is(error) && error.code === 'NOT_FOUND') throw notFound(uri)
      throw error
    }
  }
}

function part(uri: string, { mediaType }: Artifact, bytes: Uint8Array, offset: number) {
  const isText = TEXT.test(mediaType)
  const end = endOfPart(bytes, offset, isText)
  const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(offset, end)
  const next = end < bytes.byteLength && { next: `${uri.replace(/\?.*$/, '')}?offset=${end}` }
  return {
    uri,
    mimeType: mediaType,
    ...(isText ? { text: piece.toString('utf8') } : { blob: piece.toString('base64') }),
    ...((next || offset > 0) && {
      _meta: { 'tool-hub/part': { offset, bytes: piece.byteLength, total: bytes.byteLength, ...next } },
    }),
  }
}

/** Texts are cut between characters. */
function endOfPart(bytes: Uint8Array, offset: number, isText: boolean): number {
  let end = Math.min(bytes.byteLength, offset + MOST_BYTES)
  while (isText && end < bytes.byteLength && end > offset && (bytes[end]! & 0xc0) === 0x80) end--
  return end
}

function notFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri.slice(0, 200))
}

function tooLarge(uri: string, { bytes }: Artifact): ProtocolError {
  const message = `${uri} has ${bytes} bytes, more than the ${MOST_WHOLE_BYTES} that can be read over MCP.`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
