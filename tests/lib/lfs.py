# SPDX-License-Identifier: Apache-2.0
"""A server of git-lfs objects, as its batch API has it: lfs.py ADDRESS:PORT FOLDER

POST .../objects/batch says where an object is put or had; that is this server, at /objects/OID.
"""
import http.server
import json
import pathlib
import socketserver
import sys

HOST, PORT = sys.argv[1].rsplit(":", 1)
FOLDER = pathlib.Path(sys.argv[2])


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body=b"", kind="application/octet-stream"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def object(self):
        return FOLDER / pathlib.PurePath(self.path).name

    def do_POST(self):
        request = json.loads(self.body())
        if not self.path.endswith("/objects/batch"):
            self.answer(404)
            return
        action = request["operation"]
        for o in request["objects"]:
            there = (FOLDER / o["oid"]).exists()
            if there == (action == "download"):
                o["actions"] = {action: {"href": f"http://{HOST}:{PORT}/objects/{o['oid']}"}}
        answer = json.dumps({"transfer": "basic", "objects": request["objects"]}).encode()
        self.answer(200, answer, "application/vnd.git-lfs+json")

    def do_PUT(self):
        self.object().write_bytes(self.body())
        self.answer(200)

    def do_GET(self):
        if self.object().is_file():
            self.answer(200, self.object().read_bytes())
        else:
            self.answer(404)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def server_bind(self):
        # not HTTPServer's, which asks a resolver for the name of its address
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(PORT)


Server((HOST, int(PORT)), Handler).serve_forever()
