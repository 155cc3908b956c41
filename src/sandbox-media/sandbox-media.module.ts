import { type DynamicModule, Module } from '@nestjs/common';
import { SandboxMedia } from './sandbox-media.js';
import { SandboxMediaController } from './sandbox-media.controller.js';

/** Serves the sandbox's files on the gateway's port. */
@Module({})
export class SandboxMediaModule {
  static forRoot(media: SandboxMedia): DynamicModule {
    return {
      module: SandboxMediaModule,
      controllers: [SandboxMediaController],
      providers: [{ provide: SandboxMedia, useValue: media }],
      exports: [SandboxMedia],
    };
  }
}
