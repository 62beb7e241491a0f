// What a race case is about: an entry of {ROOT}, and the link to the outside that it is exchanged with.
import { closeSync, lstatSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const SAYS = /^(\S+) flips between a (\w+) and a link to ([^\s;,]+)/
const NEEDS_FILE = new Set(['read', 'delete', 'rename'])
const PATCHED = /^\*\*\* (Add|Update|Delete) File: (.+)$/m

/** Makes the entry and its link; `prepare` puts everything back that the last round took away. */
export function openRacePlace(attack, { root, out, fill }) {
  const words = [attack.path, attack.dest].filter((word) => typeof word === 'string')
  const { name, isFolder, to } = subjectOf(attack, words, { root, out, fill })
  const entry = path.join(root, name)
  const link = `${entry}.other`
  let descriptor

  const close = () => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }
  const make = () => {
    close()
    for (const each of [entry, link, `${link}.spare`]) rmSync(each, { recursive: true, force: true })
    if (isFolder) mkdirSync(entry)
    else writeFileSync(entry, 'in', { flag: 'wx' })
    // Opened before there is a link that it could be exchanged with.
    descriptor = isFolder ? openSync(entry) : undefined
    symlinkSync(to, link)
  }
  const isBelow = (word) => path.resolve(root, word).startsWith(`${entry}/`)
  // By descriptor: whatever the folder is called at this moment.
  const reach = (word) =>
    isBelow(word) ? path.join(`/proc/self/fd/${descriptor}`, path.relative(entry, path.resolve(root, word))) : undefined
  const clear = (word) => {
    const place = reach(word) ?? path.resolve(root, word)
    if (![entry, link, root].includes(place)) rmSync(place, { recursive: true, force: true })
  }
  make()

  return {
    entry,
    link,
    /** Something of the outside that the case itself does not say. */
    forbidden: ['SECRET', 'secret.txt'].filter((word) => !words.join('\n').includes(word)),
    /** A call that names the entry is refused while the link stands there; one that only passes by is not. */
    isNamed: words.some((word) => isBelow(word) || path.resolve(root, word) === entry),
    prepare(flipping) {
      if (!isPair(entry, link)) flipping.pausing(() => insist(make))
      const [, change, patched] = PATCHED.exec(attack.path) ?? []
      const word = patched ?? attack.path
      if (attack.dest !== undefined) clear(attack.dest)
      if (attack.op === 'mkdir' || change === 'Add') clear(word)
      const file = NEEDS_FILE.has(attack.op) || (change && change !== 'Add') ? reach(word) : undefined
      if (file === undefined) return
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, 'in')
    },
    close,
  }
}

/** Said by the reason of the case; else the first name of its path is a folder. */
function subjectOf({ reason = '', op }, words, { root, out, fill }) {
  const [, said, kind, to] = SAYS.exec(reason) ?? []
  if (said) return { name: said, isFolder: !/^file$/i.test(kind), to: fill(to) }
  const flipped = PATCHED.exec(words[0])?.[2] ?? words.find((word) => word.includes('/'))
  const names = path.relative(root, path.resolve(root, flipped ?? words[0])).split('/')
  const isFolder = names.length > 1 || !['read', 'write'].includes(op)
  return { name: names[0] || 'd', isFolder, to: isFolder ? out : path.join(out, 'secret.txt') }
}

/** A process may do one thing more after it received the signal to stop. */
function insist(work) {
  for (let times = 0; times < 100; times += 1) {
    try {
      return work()
    } catch (error) {
      if (!['EEXIST', 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EISDIR'].includes(error.code)) throw error
    }
  }
  throw new Error('The entries of the race could not be made anew.')
}

/** Whether both are there and one is the link. Looking takes two looks, and an exchange may fall between: look often. */
function isPair(entry, link) {
  const isLink = (each) => lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink()
  const seen = new Set()
  for (let look = 0; look < 1_000; look += 1) {
    const [first, second] = [isLink(entry), isLink(link)]
    if (first !== undefined && second !== undefined && first !== second) return true
    seen.add(first)
    if (seen.has(true) && seen.has(false)) return true
  }
  return false
}
