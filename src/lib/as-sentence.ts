/** Words with a capital first letter, as they stand alone: "Deletes files". */
export function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
