import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import { PartsEvent } from '../../providers/ports/chat.port.js';
import { NativeItems } from './native-items.js';

const UUIDS = '01234567-89ab-7def-8123-456789abcdef';
const ITEM = 'item_0123456789ab7def8123456789abcdef';
const TERMS = {
  newId: () => UUIDS,
  seal: () => 'sealed',
  showsSealed: false,
  showsLogprobs: false,
};
const NAMES = { id: 'resp_1', model: 'ours' };

function told(events: readonly JsonObject[]) {
  const emitted: JsonObject[] = [];
  const items = new NativeItems(TERMS, NAMES, (type, fields) => {
    emitted.push({ type, ...fields });
  });
  for (const event of events) items.take(new PartsEvent([], null, event));
  return { items, emitted };
}

const item = { id: 'nov_1', type: 'novelty', encrypted_content: 'secret', model: 'gpt-9' };
const added = { type: 'response.output_item.added', output_index: 0, item };

describe('items of a vendor of the same protocol', () => {
  it('keep fields that nobody knows, without those of the vendor alone', () => {
    const progress = {
      type: 'response.novelty.progress',
      sequence_number: 77,
      item_id: 'nov_1',
      response_id: 'resp_theirs',
      share: 0.5,
      inner: [{ source_id: 'nov_1', request_id: 'req_1', obfuscation: 'x' }],
    };
    expect(told([added, progress]).emitted[1]).toEqual({
      type: 'response.novelty.progress',
      item_id: ITEM,
      response_id: 'resp_1',
      share: 0.5,
      inner: [{ source_id: ITEM }],
    });
  });

  it('show the seal of the gateway only where it is asked for, and keep it', () => {
    const { items, emitted } = told([added, { ...added, type: 'response.output_item.done' }]);
    const shown = { id: ITEM, type: 'novelty', status: 'completed', model: 'ours' };
    expect(items.finished).toEqual([{ ...shown, encrypted_content: null }]);
    expect(items.stored).toEqual([{ ...shown, encrypted_content: 'sealed' }]);
    expect(emitted.map(({ item: told }) => (told as JsonObject).encrypted_content)).toEqual([
      null,
      null,
    ]);
  });

  it('are told from the whole response where the events left them out', () => {
    const end = { type: 'response.completed', response: { output: [item] } };
    expect(told([end]).emitted.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.output_item.done',
    ]);
  });

  it.each([
    ['that is not the next one', { ...added, output_index: 1 }],
    ['without a type', { ...added, item: { id: 'x' } }],
    ['with a type that is no word', { ...added, item: { id: 'x', type: 'a\nb' } }],
    ['that never began', { type: 'response.output_item.done', output_index: 3, item }],
    [
      'whose place is no number',
      { ...added, type: 'response.output_item.done', output_index: 'at' },
    ],
    ['that ends without its items', { type: 'response.completed', response: {} }],
  ])('make an answer unusable: one %s', (_what, event) => {
    expect(() => told([event])).toThrow('bad_chunk');
  });

  it('are too large together where only their beginnings are told', () => {
    const large = (output_index: number): JsonObject => ({
      ...{ type: 'response.output_item.added', output_index },
      item: { id: `nov_${output_index}`, type: 'novelty', text: 'x'.repeat(1024 * 1024) },
    });
    const begun = Array.from({ length: 16 }, (_none, index) => large(index));
    expect(() => told(begun)).toThrow('response_too_large');
  });

  it('have no events whose name is no word', () => {
    expect(told([{ type: 'response.a\ndata: x', delta: 'y' }, { type: 'other' }]).emitted).toEqual(
      [],
    );
  });
});
