import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { AudioModule } from './audio/audio.module.js';
import type { LoadedCatalog } from './catalog/catalog-file.js';
import { CatalogModule } from './catalog/catalog.module.js';
import { ChatModule } from './chat/chat.module.js';
import { ConfigModule } from './platform/config/config.module.js';
import { SignInModule } from './console/sign-in/sign-in.module.js';
import { type GatewayConfig, servesConsole } from './platform/config/gateway-config.js';
import type { DatabaseOptions } from './platform/database/database.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { DubbingModule } from './dubbing/dubbing.module.js';
import { MusicModule } from './music/music.module.js';
import { EmbeddingsModule } from './embeddings/embeddings.module.js';
import { ImagesModule } from './images/images.module.js';
import { ModelsModule } from './models/models.module.js';
import { NetModule } from './platform/http-client/net.module.js';
import { GatewayUrl } from './platform/http-client/gateway-url.js';
import { ObservabilityModule } from './platform/observability/observability.module.js';
import type { Tracing } from './platform/observability/tracing.js';
import { ProvidersModule } from './providers/providers.module.js';
import type { ProvidersOptions } from './providers/providers.options.js';
import { QuotesModule } from './quotes/quotes.module.js';
import { MessagesModule } from './messages/messages.module.js';
import { ResponsesModule } from './responses/responses.module.js';
import { RetentionModule } from './billing/retention/retention.module.js';
import { SandboxMedia } from './sandbox-media/sandbox-media.js';
import { SandboxMediaModule } from './sandbox-media/sandbox-media.module.js';
import { StorageModule } from './platform/storage/storage.module.js';
import { TasksModule } from './tasks/tasks.module.js';
import { SchedulerModule } from './platform/scheduler/scheduler.module.js';
import { VideosModule } from './videos/videos.module.js';

/** What the list of modules depends on. */
export interface AppParts {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  /** Default: there are no traces. */
  readonly tracing?: Tracing;
  readonly catalog: LoadedCatalog;
  readonly providers: ProvidersOptions;
  /** Base URL of the sandbox's finished files, if a sandbox runs. */
  readonly sandboxMediaUrl?: string | undefined;
  /** Operator commands share the embedded server of a running gateway. */
  readonly shareEmbedded?: boolean;
}

/** Only a gateway changes a schema; a command that shares its database makes at most that of an empty one. */
function migratesOf(
  { migrate }: GatewayConfig,
  isCommand: boolean,
): NonNullable<DatabaseOptions['migrates']> {
  if (migrate === 'off') return 'never';
  return isCommand ? 'when-empty' : 'always';
}

/** The list of modules. */
@Module({})
export class AppModule {
  static forRoot(parts: AppParts): DynamicModule {
    const { config, logger, catalog, providers, shareEmbedded } = parts;
    const { databaseUrl, databasePooler: pooler, dataDir } = config;
    const { migrationDatabaseUrl, readerDatabaseUrl } = config;
    const sandboxMedia = new SandboxMedia(parts.sandboxMediaUrl);
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRootAsync({
          useFactory: () => ({
            databaseUrl,
            migrationDatabaseUrl,
            readerDatabaseUrl,
            pooler,
            dataDir,
            shareEmbedded: shareEmbedded ?? false,
            migrates: migratesOf(config, shareEmbedded ?? false),
          }),
        }),
        ObservabilityModule.forRoot(logger, parts.tracing),
        SchedulerModule,
        NetModule.forRoot(
          config.egressAllow,
          sandboxMedia,
          new GatewayUrl(config.publicUrl, config),
        ),
        StorageModule,
        ProvidersModule.forRoot(providers),
        CatalogModule.forRoot(catalog.rows),
        // Paths are compared in this order: the most requested ones first.
        ChatModule,
        EmbeddingsModule,
        MessagesModule,
        ResponsesModule,
        ImagesModule,
        AudioModule,
        AdminModule,
        SandboxMediaModule.forRoot(sandboxMedia),
        TasksModule,
        RetentionModule,
        AccountModule,
        ModelsModule,
        QuotesModule,
        DubbingModule,
        MusicModule,
        VideosModule,
        ...(servesConsole(config) ? [SignInModule] : []),
      ],
    };
  }
}
