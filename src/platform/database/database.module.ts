import { Global, Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { Database, DATABASE_OPTIONS, type DatabaseOptions } from './database.js';

/**
 * Gives every module the connected, migrated `DataSource` (and its `EntityManager`), over all entity
 * classes loaded. `TypeOrmModule.forFeature` and `@InjectRepository` build on it.
 */
@Global()
@Module({})
export class DatabaseModule {
  /** `DatabaseModule.forRootAsync({ inject: [GATEWAY_CONFIG], useFactory: (config) => config })`. */
  static forRootAsync(
    options: Pick<FactoryProvider<DatabaseOptions>, 'useFactory' | 'inject'>,
  ): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DATABASE_OPTIONS, ...options },
        Database,
        {
          provide: DataSource,
          useFactory: (database: Database) => database.open(),
          inject: [Database],
        },
        {
          provide: EntityManager,
          useFactory: (dataSource: DataSource) => dataSource.manager,
          inject: [DataSource],
        },
      ],
      exports: [DataSource, EntityManager],
    };
  }
}
