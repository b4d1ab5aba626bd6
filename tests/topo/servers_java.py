# SPDX-License-Identifier: BSD-3-Clause
"""Tomcat with one JSP page that its operator's monitor calls."""
import socket

from .servers_program import Program

HOME = "/usr/share/tomcat10"
CLASSES = [f"{HOME}/bin/bootstrap.jar", f"{HOME}/bin/tomcat-juli.jar", "/usr/share/java/eclipse-jdt-core.jar"]
# A small heap, one collector thread and one compiler: it starts in two seconds and stays out of the way.
FLAGS = ["-Xmx64m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]

SERVER_XML = """
<Server port="-1">
  <Service name="Catalina">
    <Connector address="{host}" port="{port}" protocol="HTTP/1.1" maxThreads="16" minSpareThreads="4"
               keepAliveTimeout="75000" maxKeepAliveRequests="-1"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" autoDeploy="false"/>
    </Engine>
  </Service>
</Server>
"""

WEB_XML = """
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
  <servlet>
    <servlet-name>jsp</servlet-name>
    <servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class>
    <load-on-startup>1</load-on-startup>
  </servlet>
  <servlet-mapping>
    <servlet-name>jsp</servlet-name>
    <url-pattern>*.jsp</url-pattern>
  </servlet-mapping>
</web-app>
"""

HEALTH_JSP = """<%@ page contentType="text/plain" session="false" import="java.nio.file.*" %><%
String state = Files.readString(Path.of("{dir}/state"));
if (state.equals("sick")) response.setStatus(503);
response.setHeader("X-Server", "{name}");
%><%= state %>
"""

NAME_JSP = """<%@ page contentType="text/plain" session="false" %><%
response.setHeader("X-Server", "{name}");
%>{name}
"""


# How a monitor asks for it, in weir.conf.
HEALTH_REQUEST = r'"GET /health.jsp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"'


class Tomcat(Program):
    """Answers /name.jsp with its name, also in the header X-Server, and /health.jsp with "ok"."""

    kind = "tomcat"
    user = "nobody"
    start_seconds = 60.0

    def prepare(self):
        root = self.dir / "webapps/ROOT"
        for part in ("conf", "logs", "temp", "work", "webapps/ROOT/WEB-INF"):
            (self.dir / part).mkdir(parents=True)
        host, port = self.address
        (self.dir / "conf/server.xml").write_text(SERVER_XML.format(host=host, port=port))
        (self.dir / "conf/web.xml").write_text(WEB_XML)
        (root / "health.jsp").write_text(HEALTH_JSP.format(dir=self.dir, name=self.name))
        (root / "name.jsp").write_text(NAME_JSP.format(name=self.name))
        self.says("ok")

    def argv(self):
        return ["java", *FLAGS, f"-Djava.io.tmpdir={self.dir}/temp", f"-Dcatalina.base={self.dir}",
                f"-Dcatalina.home={HOME}", "-cp", ":".join(CLASSES), "org.apache.catalina.startup.Bootstrap", "start"]

    def ready(self):
        """Both pages are compiled then."""
        for page in ("health", "name"):
            with self.ns.connect(self.address, 10.0) as sock:
                sock.sendall(f"GET /{page}.jsp HTTP/1.0\r\nHost: x\r\n\r\n".encode())
                sock.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: sock.recv(4096), b""))
            assert self.name.encode() in answer, answer[:200]
        return True

    def says(self, state):
        """What /health.jsp answers; "sick" comes with 503."""
        (self.dir / "state").write_text(state)

    def sick(self, yes=True):
        self.says("sick" if yes else "ok")

    def wrong(self, yes=True):
        """/health.jsp answers 200, but not what it should."""
        self.says("out of memory" if yes else "ok")
