import { randomBytes } from 'node:crypto'

const MANNERS =
  'able bold brave brisk calm clear cool crisp deft eager early fair fast fine fond free glad good grand green keen kind light lively loyal lucky mild neat nimble plain proud quick quiet ready sharp shy smart soft steady still sunny sure swift tidy warm wide wise young'.split(
    ' ',
  )
const ANIMALS =
  'ant badger bat bear beaver bee bison boar crab crane crow deer dove duck eagle elk falcon finch fox frog goat goose hare hawk heron horse ibis jay kite koala lark lion lynx mole moose moth mouse newt otter owl panda puma quail raven robin seal sheep snail stork swan tiger toad trout vole whale wolf wren'.split(
    ' ',
  )

/** A new id that people can say and models do not mix up, that no other has: `calm-otter-3f2a`. */
export function commandId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const [manner, animal, ...number] = randomBytes(4)
    const id = `${pick(MANNERS, manner!)}-${pick(ANIMALS, animal!)}-${Buffer.from(number).toString('hex')}`
    if (!isTaken(id)) return id
  }
}

function pick(words: readonly string[], byte: number): string {
  return words[byte % words.length]!
}
