import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { FILE_STORE, type FileStore } from './file-store.port.js';
import { openFileStore } from './open-file-store.js';
import { StoredFileSweeper } from './stored-file-sweeper.js';
import { StoredFiles } from './stored-files.js';

/** Provides {@link StoredFiles}, whose bytes are kept in the store of `STORAGE_URL`. */
@Module({
  providers: [
    {
      provide: FILE_STORE,
      useFactory: (config: GatewayConfig): Promise<FileStore> => openFileStore(config),
      inject: [GATEWAY_CONFIG],
    },
    StoredFiles,
    StoredFileSweeper,
  ],
  exports: [StoredFiles],
})
export class StorageModule implements OnApplicationShutdown {
  constructor(@Inject(FILE_STORE) private readonly store: FileStore) {}

  onApplicationShutdown(): void {
    this.store.close();
  }
}
