import { Download } from 'lucide-react'
import type { ToolResult } from '../../../api/types.ts'
import { Button } from '../../../components/button.tsx'
import { Code } from '../../../components/code.tsx'
import { formatBytes } from '../../../components/format-bytes.ts'
import { saveFile } from '../../../components/save-file.ts'
import { VisibleText } from '../../../components/visible-text.tsx'
import { readBase64 } from './read-base64.ts'
import styles from './result-view.module.css'

type Block = ToolResult['content'][number]

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** What a model sees of a result: texts and pictures; other things to download, or by their address. */
export function ContentBlocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className={styles.blocks}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no name, and are never reordered.
        <OneBlock key={index} block={block} number={index + 1} />
      ))}
    </div>
  )
}

function OneBlock({ block, number }: { block: Block; number: number }) {
  if (block.type === 'text') return <Code text={block.text} label={`Text ${number}`} />
  if (block.type === 'image' && IMAGES.has(block.mediaType)) {
    return (
      <img
        className={styles.image}
        src={`data:${block.mediaType};base64,${block.data}`}
        alt={`Content ${number}, made by the tool`}
      />
    )
  }
  if (block.type === 'resource-link') {
    return (
      <p className={styles.other}>
        Link to <VisibleText text={block.title ?? block.name} />:{' '}
        <code>
          <VisibleText text={block.uri} />
        </code>
      </p>
    )
  }
  if (block.type === 'resource' && block.text !== undefined) return <Code text={block.text} label={block.uri} />
  return <Bytes data={block.data ?? ''} words={block.mediaType ?? block.type} number={number} />
}

function Bytes({ data, words, number }: { data: string; words: string; number: number }) {
  const bytes = readBase64(data)
  if (!bytes) return <p className={styles.other}>Content {number} cannot be read.</p>
  return (
    <p className={styles.other}>
      <VisibleText text={words} />, {formatBytes(bytes.length)}{' '}
      <Button size="small" icon={Download} onClick={() => saveFile(`content-${number}`, bytes)}>
        Download
      </Button>
    </p>
  )
}
