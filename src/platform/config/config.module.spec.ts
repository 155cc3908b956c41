import { describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { SecretBox } from '../../common/secrets/secret-box.js';
import { ConfigModule } from './config.module.js';
import { loadConfig } from './load-config.js';

const OLD_KEY = 'the-old-key-0123456789-0123456789-abc';
const NEW_KEY = 'the-new-key-0123456789-0123456789-abc';
const CONTEXT = 'a place';

async function boxOf(settings: NodeJS.ProcessEnv): Promise<SecretBox> {
  const imports = [ConfigModule.forRoot(loadConfig(settings))];
  return (await Test.createTestingModule({ imports }).compile()).get(SecretBox);
}

describe('ConfigModule', () => {
  it('gives a box that seals with the first of the secret keys and opens with all', async () => {
    const old = await boxOf({ SECRET_KEY: OLD_KEY });
    const box = await boxOf({ SECRET_KEY: `${NEW_KEY},${OLD_KEY}` });
    expect(box.open(old.seal('whsec', CONTEXT), CONTEXT)).toBe('whsec');
    expect(() => old.open(box.seal('whsec', CONTEXT), CONTEXT)).toThrow('no longer configured');
  });

  it('gives operator commands without a secret key a box that seals nothing', async () => {
    const box = await boxOf({});
    expect(() => box.seal('whsec', CONTEXT)).toThrow('No secret key is configured.');
  });
});
