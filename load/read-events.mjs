/** The events of a stream of server-sent ones, as they come. */
export async function* readEvents(response) {
  let rest = ''
  for await (const piece of response.setEncoding('utf8')) {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) {
      const data = block
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5))
      if (data.length > 0) yield JSON.parse(data.join('\n'))
    }
  }
}
