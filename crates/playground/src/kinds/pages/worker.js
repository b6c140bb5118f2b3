oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => {
  if (event.request.url.endsWith("/by-whom")) event.respondWith(new Response("by the worker"));
};
