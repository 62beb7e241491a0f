import { describe, expect, it } from 'vitest'
import { type Style, serialiseHeader, serialisePairs, serialisePath } from './parameters.ts'

const LIST = ['blue', 'black']
const OBJECT = { R: 100, G: 200 }
const write = (style: Style, explode: boolean, others = {}) => ({
  name: 'color',
  style,
  explode,
  allowReserved: false,
  isJson: false,
  ...others,
})

/** The table of the OpenAPI specification, "Style Examples". */
describe('serialising parameters', () => {
  it('writes paths as the specification has it', () => {
    const path = (style: Style, explode: boolean) =>
      ['blue', LIST, OBJECT].map((value) => serialisePath(write(style, explode), value))
    expect(path('matrix', false)).toEqual([';color=blue', ';color=blue,black', ';color=R,100,G,200'])
    expect(path('matrix', true)).toEqual([';color=blue', ';color=blue;color=black', ';R=100;G=200'])
    expect(path('label', false)).toEqual(['.blue', '.blue,black', '.R,100,G,200'])
    expect(path('label', true)).toEqual(['.blue', '.blue.black', '.R=100.G=200'])
    expect(path('simple', false)).toEqual(['blue', 'blue,black', 'R,100,G,200'])
    expect(path('simple', true)).toEqual(['blue', 'blue,black', 'R=100,G=200'])
    expect(serialisePath(write('simple', false), 'a/b c,(d)')).toBe('a%2Fb%20c%2C%28d%29')
  })

  it('writes queries as the specification has it', () => {
    const query = (style: Style, explode: boolean) =>
      ['blue', LIST, OBJECT].map((value) => serialisePairs(write(style, explode), value).join('&'))
    expect(query('form', false)).toEqual(['color=blue', 'color=blue,black', 'color=R,100,G,200'])
    expect(query('form', true)).toEqual(['color=blue', 'color=blue&color=black', 'R=100&G=200'])
    expect(query('spaceDelimited', false)[1]).toBe('color=blue%20black')
    expect(query('pipeDelimited', false)[1]).toBe('color=blue%7Cblack')
    expect(query('deepObject', true)[2]).toBe('color%5BR%5D=100&color%5BG%5D=200')
    expect(serialisePairs(write('deepObject', true), { a: { b: [1, 2] }, c: null })).toEqual([
      'color%5Ba%5D%5Bb%5D=1',
      'color%5Ba%5D%5Bb%5D=2',
    ])
  })

  it('leaves out what is not there, and writes what has no form of its own as JSON', () => {
    expect(serialisePairs(write('form', true), [])).toEqual([])
    expect(serialisePairs(write('form', false), {})).toEqual([])
    expect(serialisePairs(write('form', true), [null, { a: 1 }])).toEqual(['color=%7B%22a%22%3A1%7D'])
    expect(serialisePairs(write('form', true, { isJson: true }), OBJECT)).toEqual([
      'color=%7B%22R%22%3A100%2C%22G%22%3A200%7D',
    ])
    expect(serialisePairs(write('form', true), false)).toEqual(['color=false'])
  })

  it('lets no reserved character begin another parameter', () => {
    const reserved = write('form', true, { allowReserved: true })
    expect(serialisePairs(reserved, '/a:b?c=d&e#f+g')).toEqual(['color=/a:b?c%3Dd%26e%23f%2Bg'])
  })

  it('writes headers without encoding', () => {
    expect([LIST, OBJECT, 'a b'].map((value) => serialiseHeader(write('simple', false), value))).toEqual([
      'blue,black',
      'R,100,G,200',
      'a b',
    ])
    expect(serialiseHeader(write('simple', true), OBJECT)).toBe('R=100,G=200')
  })
})
