export { ArtifactReader, Artifacts, findArtifactOf, readArtifactOf } from './artifacts.ts'
