import { readFile, writeFile } from 'node:fs/promises'
import { cells } from './table.mjs'

const PAGE = new URL('../../docs/reference/bench.md', import.meta.url)
const PEERS = new URL('../package.json', import.meta.url)
const HEADING = '## Latest figures'

/** Replaces the figures of the page of benchmarks, which is its last section, by those of a run of all rows. */
export async function writeFigures({ date, machine, rounds, rows }) {
  const page = await readFile(PAGE, 'utf8')
  const { dependencies } = JSON.parse(await readFile(PEERS, 'utf8'))
  const { node, platform, cpu, cores, memoryGb } = machine
  const peers = Object.entries(dependencies).map(([name, version]) => `- ${name} ${version}`)
  const lines = rows.flatMap(({ title, figures = [], error }) =>
    error === undefined ? figures.map((figure) => toLine(title, figure)) : [`| ${title} | failed |  |  |  |`],
  )
  const section = [
    `${HEADING}\n`,
    `Written by \`npm run bench -- --docs\` on ${date.slice(0, 10)}, at most ${rounds} rounds.`,
    `Node ${node}, ${platform}, ${cores} x ${cpu}, ${memoryGb} GB.\n`,
    `Peers:\n\n${peers.join('\n')}\n`,
    '| figure | median | quartiles | goal | |\n|---|---|---|---|---|',
    ...lines,
  ]
  await writeFile(PAGE, `${page.slice(0, page.indexOf(HEADING))}${section.join('\n')}\n`)
}

function toLine(title, figure) {
  const [label, median, spread, goal, judgement] = cells(figure)
  const shown = judgement === 'MISSED' ? '**missed**' : judgement
  return `| ${title}: ${label.trim()} | ${median} | ${spread} | ${goal.replace('<= ', '')} | ${shown} |`
}
