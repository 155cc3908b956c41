import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { validatorOf } from './compiled-validator.js';
import { DoneAnyway, Enum, Text, Int } from './fields.js';

describe('the refusal of a field', () => {
  it('says a bound of one value as one value', () => {
    class Only {
      @Int({ min: 1, max: 1, optional: true }) n?: number;
      @Enum(['b64_json'], { optional: true }) format?: string;
      @DoneAnyway(false) stream?: false;
      @Text({ max: 3, list: { min: 1, max: 1 }, optional: true }) urls?: string[];
    }
    const says = (fields: object) => () => validatorOf(Only).parse(fields);
    expect(says({ n: 2 })).toThrow('n must be 1.');
    expect(says({ format: 'url' })).toThrow('format must be b64_json.');
    expect(says({ stream: true })).toThrow('stream must be false.');
    expect(says({ urls: [] })).toThrow('urls must be an array of 1 value.');
    expect(validatorOf(Only).parse({ n: 1, stream: false, format: null })).toEqual({
      n: 1,
      stream: false,
    });
  });
});
