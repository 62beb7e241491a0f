const TEXT =
  /^(text\/|application\/(json|xml|xhtml\+xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|x-sh|ld\+json|x-ndjson|rtf)\b|[a-z]+\/[^;]+\+(json|xml|yaml)\b)/

/** True for a content type that people read as text; a server that says nothing is believed to send text. */
export function isText(contentType: string): boolean {
  return contentType.trim() === '' || TEXT.test(contentType.trim().toLowerCase())
}
