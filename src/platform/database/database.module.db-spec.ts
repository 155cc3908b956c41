import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { DatabaseModule } from './database.module.js';
import type { DatabaseOptions } from './database.js';

@Entity('note')
class Note {
  @PrimaryColumn('int')
  id!: number;

  @Column('text')
  text!: string;
}

@Injectable()
class Notes implements OnModuleDestroy {
  atShutdown: unknown;

  constructor(@InjectRepository(Note) readonly repository: Repository<Note>) {}

  async onModuleDestroy(): Promise<void> {
    this.atShutdown = await this.repository.count();
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Note])], providers: [Notes] })
class NotesModule {}

describe('DatabaseModule', () => {
  let database: TestDatabase;
  const started: TestingModule[] = [];
  let dataDir: string;

  async function start(options: DatabaseOptions): Promise<TestingModule> {
    const builder = Test.createTestingModule({
      imports: [NotesModule, DatabaseModule.forRootAsync({ useFactory: () => options })],
    });
    const module = await builder.compile();
    started.push(module);
    return module.init();
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.dataSource.query('CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL)');
    dataDir = await mkdtemp(join(tmpdir(), 'shim-module-'));
    await chmod(dataDir, 0o755);
  });
  afterEach(async () => {
    for (const module of started.splice(0)) await module.close();
  });
  afterAll(async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('gives repositories of every loaded entity, usable until the last module is destroyed', async () => {
    const module = await start({ databaseUrl: database.url, dataDir, poolSize: 2 });
    const notes = module.get(Notes, { strict: false });
    await notes.repository.save({ id: 1, text: 'first' });
    expect(await notes.repository.findOneBy({ id: 1 })).toEqual({ id: 1, text: 'first' });
    const dataSource = module.get(DataSource, { strict: false });
    await started.pop()?.close();
    expect(notes.atShutdown).toBe(1);
    expect(dataSource.isInitialized).toBe(false);
  });

  it('runs on the embedded server without a URL, and shares it on request', async () => {
    const owner = await start({ databaseUrl: undefined, dataDir, poolSize: 2 });
    const embedded = owner.get(DataSource, { strict: false });
    await embedded.query('CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL)');
    const guest = await start({
      databaseUrl: undefined,
      dataDir,
      poolSize: 1,
      shareEmbedded: true,
    });
    await guest.get(Notes, { strict: false }).repository.save({ id: 7, text: 'from a command' });
    await started.pop()?.close();
    expect(await embedded.query('SELECT id FROM note')).toEqual([{ id: 7 }]);
  });
});
