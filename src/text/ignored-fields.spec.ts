import { describe, expect, it } from '@jest/globals';
import { IgnoredFields } from './ignored-fields.js';

const MANY = Array.from({ length: 200 }, (_, index) => `field_${index}`);

describe('fields that are left out', () => {
  it('are listed in 1,000 characters at most, and only where a header can have the name', () => {
    const fields = new IgnoredFields();
    for (const name of ['a b', 'ü', 'x'.repeat(200), ...MANY, 'field_0']) fields.add(name);
    const listed = fields.names.join(', ');
    expect(listed.length).toBeLessThanOrEqual(1_000);
    expect(listed).toMatch(/^field_0, field_1, field_2/);
    expect(new Set(fields.names).size).toBe(fields.names.length);
  });

  it.each(['odd name', 'ü', 'input.0.odd"name'])(
    'are refused in strict mode though the name %j cannot be listed (G-107)',
    (name) => {
      const fields = new IgnoredFields();
      fields.add(name);
      expect(fields.names).toEqual([]);
      expect(() => {
        fields.refuseWhere(true);
      }).toThrow(`${name} is not known here.`);
      expect(() => {
        fields.refuseWhere(false);
      }).not.toThrow();
    },
  );

  it('name their place in the error, without what stands there', () => {
    const fields = new IgnoredFields();
    fields.add('tools.2:web_search');
    expect(() => {
      fields.refuseWhere(true);
    }).toThrow(/^tools\.2 is not known here\.$/);
  });
});
