import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useCliHere } from '../../../../../test/support/cli-here.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { UntrustedFiles } from '../../../../runtime/src/store/untrusted-files.ts'

const folder = temporaryFolder('labels-cli')
const config = join(folder, 'tool-hub.yaml')
writeFileSync(config, 'runs: ./data/runs\ndata: ./data\nsandbox: { root: . }\n')
const labels = () => new UntrustedFiles(join(folder, 'data', 'untrusted-files.jsonl'))
const { run } = useCliHere('labels', config)

it('lists what is labelled and clears what the owner trusts, while a hub keeps running', async () => {
  expect((await run()).stderr).toContain('No file is labelled.')
  const hub = labels()
  const [page, made, kept] = ['page.txt', 'made/by-command.txt', 'kept.txt'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(page, 'x')
  hub.add(page)
  const id = hub.begin([folder])
  mkdirSync(join(folder, 'made'))
  for (const file of [made, kept]) writeFileSync(file, 'x')
  utimesSync(made, 1_000_000_000, 1_000_000_000)

  const busy = await run('clear', join(folder, 'made'))
  expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining('is writing to') })
  hub.end(id, [folder])

  const listed = JSON.parse((await run('--json')).stdout) as { labels: string[] }
  expect(listed.labels.toSorted()).toEqual([kept, join(folder, 'made'), made, page])
  expect(await run('clear', page)).toMatchObject({ code: 0 })
  expect((await run('clear', join(folder, 'made'))).stdout).toContain('Cleared')
  expect((await run()).stdout).toBe(`${kept}\n`)
  expect([page, made, kept].map((path) => hub.has(path))).toEqual([false, false, true])
  expect(readFileSync(made, 'utf8')).toBe('x')
})

it('clears a labelled folder as a whole', async () => {
  const tree = join(folder, 'tree')
  mkdirSync(tree)
  writeFileSync(join(tree, 'a.txt'), 'x')
  labels().add(tree)
  expect(labels().has(join(tree, 'a.txt'))).toBe(true)
  const part = await run('clear', join(tree, 'a.txt'))
  expect(part).toMatchObject({ code: 1, stderr: expect.stringContaining(`Clear ${tree}`) })
  await run('clear', tree)
  expect(labels().has(join(tree, 'a.txt'))).toBe(false)
})
