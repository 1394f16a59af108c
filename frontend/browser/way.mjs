// A way to the server that can be cut and mended: what a client meets when the server goes away and comes back.
import { connect, createServer } from "node:net";

export async function openWay(base) {
  const target = new URL(base);
  const sockets = new Set();
  const serve = (near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  };
  let server;
  const listen = (port) =>
    new Promise((done, failed) => {
      server = createServer(serve);
      server.once("error", failed);
      server.listen(port, "127.0.0.1", () => done(server.address().port));
    });
  const port = await listen(0);
  const cut = () =>
    new Promise((done) => {
      server.close(done);
      for (const socket of sockets) socket.destroy();
    });
  return { base: `http://127.0.0.1:${port}`, cut, mend: () => listen(port) };
}
