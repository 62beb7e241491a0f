import { bareLines, foldCharacters } from '../lines/fold-line.ts'
import { type FoldedText, foldText } from '../lines/folded-text.ts'

/** The text that edits are matched against; what a search makes of it is kept for the next edit of the same call. */
export class EditSource {
  readonly text: string
  #stripped: FoldedText | undefined
  #plain: FoldedText | undefined
  #lines: readonly string[] | undefined
  #bareLines: readonly string[] | undefined

  constructor(text: string) {
    this.text = text
  }

  /** Without blanks at line ends. */
  get stripped(): FoldedText {
    this.#stripped ??= foldText(this.text, (text) => text)
    return this.#stripped
  }

  /** The same, with plain quotes, dashes and spaces. */
  get plain(): FoldedText {
    this.#plain ??= foldText(this.text, foldCharacters)
    return this.#plain
  }

  get lines(): readonly string[] {
    this.#lines ??= this.text.split('\n')
    return this.#lines
  }

  /** Plain, and without the blanks around them. */
  get bareLines(): readonly string[] {
    this.#bareLines ??= bareLines(this.text)
    return this.#bareLines
  }
}
