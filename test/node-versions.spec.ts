import { describe, expect, it } from '@jest/globals';
import { isInRange } from '../scripts/require-node.js';

const RANGE = '^20.19 || ^22.13 || >=24.11';

describe('the version of Node.js that a start asks for', () => {
  it.each(['20.19.0', '20.20.2', '22.13.1', '22.21.0', '24.11.0', '24.21.0', '25.0.0', '26.1.0'])(
    'is fulfilled by %s',
    (version) => {
      expect(isInRange(version, RANGE)).toBe(true);
    },
  );

  it.each(['18.20.8', '20.18.3', '21.7.3', '22.12.0', '23.11.1', '24.10.0', '16.20.2'])(
    'is not fulfilled by %s',
    (version) => {
      expect(isInRange(version, RANGE)).toBe(false);
    },
  );
});
