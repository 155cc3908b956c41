import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';

/** How the first cell, which has no `CELL`, is called in a move. No name of a cell has a hyphen. */
const FIRST_CELL = 'first-cell';
const CELL_ID =
  /^(first-cell|[a-z0-9]{1,8})[/]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[/]([0-9a-f]{8})$/;
const CHECK_DIGITS = 8;

const MAKE = 'INSERT INTO cell_identity DEFAULT VALUES ON CONFLICT DO NOTHING';
const READ = 'SELECT id FROM cell_identity';

/** A cell, by the id of its database. The name is for people only: it comes from the environment, which may be that of another cell. */
export interface Cell {
  readonly name: string;
  /** Random, in the database since it was first asked for: a backup has it too. */
  readonly databaseId: string;
  /** Both with check digits, as operators copy it: `07/UUID/DIGITS`. */
  readonly id: string;
}

function cellOf(name: string, databaseId: string): Cell {
  const both = `${name}/${databaseId}`;
  const digest = createHash('sha256').update(both).digest('hex');
  return { name, databaseId, id: `${both}/${digest.slice(0, CHECK_DIGITS)}` };
}

/** The cell of an id; undefined for a text that no cell printed, such as a misspelt one. */
export function cellIn(id: string): Cell | undefined {
  const [, name, databaseId] = CELL_ID.exec(id) ?? [];
  if (name === undefined || databaseId === undefined) return undefined;
  const cell = cellOf(name, databaseId);
  return cell.id === id ? cell : undefined;
}

/** The cell of this database, over a connection of the owner of the tables. It gets its id when it is first asked for it. */
export async function thisCell(db: DataSource, name: string | undefined): Promise<Cell> {
  await db.query(MAKE);
  const [row] = await db.query<{ id: string }[]>(READ);
  if (row === undefined) throw new Error('The database has no id');
  return cellOf(name ?? FIRST_CELL, row.id);
}
