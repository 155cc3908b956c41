import { readFile, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MovingAccount } from '../../test/support/moving-account.js';
import { createTestDatabase } from '../../test/support/test-database.js';
import { cellIn } from './cell-id.js';
import { receiptOf } from './move-receipt.js';
import { LEFT_TABLES, MOVED_TABLES, STAYING_TABLES } from './moved-tables.js';

describe('the file of an account', () => {
  let move: MovingAccount;
  beforeEach(async () => {
    move = await MovingAccount.make();
  });
  afterEach(() => move.drop());

  it('is not imported from a file that was cut at any hundredth or changed', async () => {
    await move.close();
    await move.export();
    const whole = await readFile(move.fileOf('file'));
    const text = gunzipSync(whole);
    const attempt = async (bytes: Buffer): Promise<void> => {
      await writeFile(move.fileOf('bad'), bytes);
      await expect(move.import('bad')).rejects.toThrow('not what account:export wrote');
    };
    for (let percent = 0; percent < 100; percent += 1) {
      await attempt(whole.subarray(0, Math.floor((whole.length * percent) / 100)));
      await attempt(gzipSync(text.subarray(0, Math.floor((text.length * percent) / 100))));
    }
    const changed = Buffer.from(text.toString().replace('"amount":-2500', '"amount":-2400'));
    expect(changed.equals(text)).toBe(false);
    await attempt(gzipSync(changed));
    await attempt(gzipSync(Buffer.concat([text, Buffer.from('{}\n')])));
    expect(await move.to.dataSource.query('SELECT FROM account_move')).toEqual([]);
    await move.import();
  });

  it('is imported and refused in the database that the export named, whatever the name of the cell, and in no other', async () => {
    const third = await createTestDatabase();
    await move.close();
    const [own, named] = [await move.cellOf(move.from), await move.cellOf(move.to, '07')];
    expect(named).toMatch(/^07[/][0-9a-f-]{36}[/][0-9a-f]{8}$/);
    const misspelt = named.replace(
      /.{9}$/,
      (digits) => (digits.startsWith('a') ? `b` : `a`) + digits.slice(1),
    );
    for (const cell of ['07', `${named}0`, named.replace('07/', '08/'), misspelt]) {
      expect(cellIn(cell)).toBeUndefined();
      await expect(move.export('file', { cell })).rejects.toThrow('none, or is misspelt');
    }
    await expect(move.export('file', { cell: own })).rejects.toThrow('the cell of this database');
    const { header } = await move.export('file', { cell: named });
    const other = await move.cellOf(third, '07');
    await expect(move.export('other', { cell: other })).rejects.toThrow(
      `moves to the cell ${named}`,
    );
    await expect(move.import('file', third)).rejects.toThrow(`for the cell ${named}`);
    await expect(move.refuse(third)).rejects.toThrow(`for the cell ${named}`);
    await expect(move.import('file', move.from)).rejects.toThrow(`for the cell ${named}`);
    expect(await third.dataSource.query('SELECT FROM account_move')).toEqual([]);
    const { receipt } = await move.import();
    const ofOther = receiptOf({ ...header, from: other }, 'imported');
    await expect(move.end(ofOther)).rejects.toThrow('no receipt');
    await move.end(receipt);
    await third.drop();
  });

  it('has every table of an account either in the file or named as left behind', async () => {
    const found = await move.from.dataSource.query<{ name: string }[]>(`
      SELECT DISTINCT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
         AND a.attname IN ('account_id', 'api_key_id')`);
    const named = [
      ...MOVED_TABLES.map(({ name }) => name),
      ...Object.keys(LEFT_TABLES),
      ...Object.keys(STAYING_TABLES),
    ];
    expect(
      found
        .map(({ name }) => name)
        .concat('account')
        .sort(),
    ).toEqual(named.sort());
  });
});
