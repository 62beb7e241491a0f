/** The text of an answer; broken off with an error of the caller's when it has more bytes than that. */
export async function readBody(
  { body }: Pick<Response, 'body'>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge()
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}
