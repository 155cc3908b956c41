import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import { filledTemplate, UnfitValue, type VendorValues } from './vendor-template.js';

const inline = (url: string) => ({
  data: Buffer.from(url),
  contentType: 'image/png',
  token: `<${url}>`,
});
const filled = (template: JsonObject, values: VendorValues) =>
  filledTemplate(template, values, inline).body;

describe('the template of a body', () => {
  it.each<[string, JsonObject, VendorValues, JsonObject]>([
    ['keeps constants', { a: 1, b: [true, null], c: {} }, {}, { a: 1, b: [true, null], c: {} }],
    ['puts fields into texts', { d: '{{seconds}}s' }, { seconds: '5' }, { d: '5s' }],
    [
      'reads marks of the template only',
      { p: '{{prompt}}' },
      { prompt: '{{model}}', model: 'm' },
      { p: '{{model}}' },
    ],
    ['leaves a key out whose field is absent', { a: '{{size}}', b: 1 }, {}, { b: 1 }],
    ['casts', { d: { $field: 'seconds', as: 'integer' } }, { seconds: '5' }, { d: 5 }],
    ['keeps a boolean', { d: { $field: 'audio' } }, { audio: false }, { d: false }],
    [
      'looks up a table',
      { r: { $field: 'aspect_ratio', table: { '16:9': '1280:720' } } },
      { aspect_ratio: '16:9' },
      { r: '1280:720' },
    ],
    [
      'looks a boolean up',
      { s: { $field: 'audio', table: { true: 'on', false: 'off' } } },
      { audio: true },
      { s: 'on' },
    ],
    [
      'sends an image inline',
      { i: { $inline: 'first_frame_url', as: 'data_url' } },
      { first_frame_url: 'u' },
      { i: 'data:image/png;base64,<u>' },
    ],
    [
      'leaves entries out whose field is absent, and makes one for each of a list',
      {
        content: [
          { type: 'text', text: '{{prompt}}' },
          { type: 'image_url', image_url: { url: '{{first_frame_url}}' }, role: 'first_frame' },
          { $each: 'image_urls', item: { url: '{{item}}' } },
        ],
      },
      { prompt: 'Sea', image_urls: ['a', 'b'] },
      { content: [{ type: 'text', text: 'Sea' }, { url: 'a' }, { url: 'b' }] },
    ],
    [
      'leaves an object out of which every field is absent',
      { k: { f: { type: 'image', url: '{{first_frame_url}}' } } },
      {},
      {},
    ],
  ])('%s', (_what, template, values, body) => {
    expect(filled(template, values)).toEqual(body);
  });

  it.each<[string, JsonObject, VendorValues]>([
    ['outside of a table', { r: { $field: 'size', table: { a: 'b' } } }, { size: 'toString' }],
    ['that is no whole number', { r: { $field: 'seconds', as: 'integer' } }, { seconds: '5.5' }],
    ['that is no boolean', { r: { $field: 'prompt', as: 'boolean' } }, { prompt: 'yes' }],
  ])('does not take a value %s', (_what, template, values) => {
    expect(() => filled(template, values)).toThrow(UnfitValue);
  });
});
