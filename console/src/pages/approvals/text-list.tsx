import { VisibleText } from '../../components/visible-text.tsx'
import styles from './ask-detail.module.css'
import { DetailBlock } from './detail-block.tsx'

/** Some texts under a title; nothing where there are none. */
export function TextList({
  title,
  texts,
  isCode = false,
}: {
  title: string
  texts: readonly string[]
  isCode?: boolean
}) {
  if (texts.length === 0) return null
  return (
    <DetailBlock title={title}>
      <ul className={styles.list}>
        {texts.map((text) => (
          <li key={text}>
            {isCode ? (
              <code>
                <VisibleText text={text} />
              </code>
            ) : (
              <VisibleText text={text} />
            )}
          </li>
        ))}
      </ul>
    </DetailBlock>
  )
}
